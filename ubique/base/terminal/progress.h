// SPDX-License-Identifier: Apache-2.0
// Progress of long work: a bar with ETA and throughput on a terminal, plain lines elsewhere, JSON
// lines for programs. The stream and the clock are given by the caller.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

namespace ubique {

enum class ProgressStyle { Bar, Lines, JsonLines, Silent };

class Progress {
 public:
  using Clock = std::function<std::chrono::duration<double>()>;  ///< seconds since any fixed point

  struct Options {
    std::string title;        ///< "probe", "epoch 3/50"
    std::int64_t total = 0;   ///< 0 = unknown: no bar and no ETA, only counts
    std::string unit = "it";  ///< throughput is printed as unit/s
    ProgressStyle style = ProgressStyle::Bar;
    double interval = 0.1;     ///< seconds between redraws of the bar
    double line_interval = 5;  ///< seconds between plain or JSON lines
  };

  Progress(Options options, std::ostream& out, Clock clock = {});
  ~Progress();  ///< clears or ends the bar's line

  void advance(std::int64_t steps = 1, std::string note = {});  ///< thread-safe
  void finish(std::string note = {});                           ///< last line with the totals

  /// Clears all bars, runs `write` and redraws them, so that other output to the terminal (the log)
  /// does not overlap with a bar.
  static void without_bars(const std::function<void()>& write);

  /// Terminal -> Bar, file or pipe -> Lines; json and quiet flags decide first.
  static ProgressStyle choose_style(int file_descriptor, bool json, bool quiet);

 private:
  struct State;
  struct Bars;  // all that exist now
  static Bars& bars();

  std::unique_ptr<State> state_;
};

}  // namespace ubique
