// SPDX-License-Identifier: Apache-2.0
// Progress of long work: a bar with ETA and throughput on a terminal, plain lines elsewhere, JSON
// lines for programs. It writes to a stream it is given and asks a clock it is given.
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

  /// Runs `write` while no bar is drawn: bars are taken away before and drawn again after, so that
  /// a line which somebody else writes to the terminal does not land on one. The log does so.
  static void beside(const std::function<void()>& write);

  /// Terminal -> Bar, file or pipe -> Lines; json and quiet flags decide first.
  static ProgressStyle choose_style(int file_descriptor, bool json, bool quiet);

 private:
  struct State;
  struct Bars;  // those alive now
  static Bars& bars();

  std::unique_ptr<State> state_;
};

}  // namespace ubique
