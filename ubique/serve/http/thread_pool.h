// SPDX-License-Identifier: Apache-2.0
// Threads for connections: as many as there are connections, up to a limit, and few when it is
// quiet. An event stream holds one for as long as it is open.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ubique::serve {

class GrowingPool {
 public:
  GrowingPool(std::size_t most, double idle_seconds) : most_(most), idle_seconds_(idle_seconds) {}
  ~GrowingPool() { finish(); }
  GrowingPool(const GrowingPool&) = delete;
  GrowingPool& operator=(const GrowingPool&) = delete;

  void add(std::function<void()> work);
  void finish();  ///< waits for what was added; then add() is an error
  std::size_t threads() const;

 private:
  void serve();

  const std::size_t most_;
  const double idle_seconds_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, ended_;
  std::deque<std::function<void()>> waiting_;
  std::size_t threads_ = 0, idle_ = 0;
  bool finishing_ = false;
};

}  // namespace ubique::serve
