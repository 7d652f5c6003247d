// SPDX-License-Identifier: Apache-2.0
// Which rank is lost: each rank tells the store every second that it lives and how far it is, and
// watches the others do so.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ubique::dist {

/// The few operations that this needs of a key-value store; they throw if it is gone.
struct Notes {
  std::function<void(const std::string& key, const std::string& value)> put;
  std::function<std::optional<std::string>(const std::string& key)> look;  ///< does not wait
};

class SignsOfLife {
 public:
  /// `silence`: seconds until a rank counts as lost. `notes` are used by one thread of this alone.
  SignsOfLife(int rank, int size, double silence, Notes notes);
  ~SignsOfLife();
  SignsOfLife(const SignsOfLife&) = delete;
  SignsOfLife& operator=(const SignsOfLife&) = delete;

  void note_step(std::int64_t step) { step_ = step; }
  void note_exchange() { ++exchanges_; }    ///< before each exchange
  std::vector<std::int64_t> steps() const;  ///< noted last by each rank, as far as seen
  /// Why the run cannot go on, once a rank was silent for too long or said that it left.
  std::optional<std::string> trouble() const;
  /// The same after an exchange failed with `error`: waits until it is known who is lost.
  std::string explain(const std::string& error) const;
  /// Tells the others why this rank ends. Rank 0, whose store they ask, waits for them a little.
  void leave(const std::string& why);
  /// Ends the threads; false if one still waits for the store after that time.
  bool finish(std::chrono::milliseconds time);

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    std::string note;  // the last one
    std::int64_t step = 0, exchanges = 0;
    Clock::time_point changed = Clock::now();
    std::int64_t missed = 0;  // looks at it since it changed
    std::optional<std::string> farewell;
  };

  void watch();
  void watch_watcher();
  void look_at(int rank);
  std::optional<std::string> trouble_after(double silence) const;
  std::string describe(int rank) const;

  int rank_, size_;
  double silence_;
  Notes notes_;
  std::atomic<std::int64_t> step_ = 0, exchanges_ = 0, looks_ = 0;
  std::atomic<std::int64_t> waits_ = 0;  // time since the last look, in the time between two
  std::atomic<bool> ending_ = false, ended_ = false, store_lost_ = false;
  mutable std::mutex mutex_;
  std::vector<Seen> seen_;              // under mutex_
  std::optional<std::string> leaving_;  // under mutex_: to be told
  std::thread watcher_, watcher_of_watcher_;
};

}  // namespace ubique::dist
