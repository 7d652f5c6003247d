// SPDX-License-Identifier: Apache-2.0
// Lines of a stream that come while something else is being done: a thread reads them, the worker
// takes them between two steps.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ubique::codelm {

class LineQueue {
 public:
  /// Reads until the stream ends or `stop` says so. A line longer than `longest` ends it too.
  LineQueue(int descriptor, std::function<bool()> stop,
            std::size_t longest = std::size_t{64} << 20U);
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  /// The lines that have come; with `wait`, at least one unless the stream has ended.
  std::vector<std::string> take(bool wait);
  bool ended();  ///< no line is left, and none will come

 private:
  void read();
  bool read_some(std::string& rest);

  int descriptor_;
  std::function<bool()> stop_;
  std::size_t longest_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  bool closed_ = false, leaving_ = false;
  std::thread thread_;
};

}  // namespace ubique::codelm
