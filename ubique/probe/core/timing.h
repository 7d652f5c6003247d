// SPDX-License-Identifier: Apache-2.0
// Timing of a small piece of work on a device, to choose between correct alternatives.
#pragma once

#include <c10/core/Device.h>

#include <functional>

namespace ubique::probe {

/// Median milliseconds of `work` after a warm-up, synchronised each time. Up to nine runs, fewer if
/// they are long: about 50 ms in all, and only one once `stop` says so.
double median_ms(c10::Device device, const std::function<void()>& work,
                 const std::function<bool()>& stop = {});

/// Sets the number of LibTorch's CPU threads for a scope. Most probes are so small that one thread
/// is fastest, above all on a busy machine, where threads waste time waiting for each other.
class ThreadCount {
 public:
  explicit ThreadCount(int threads);
  ~ThreadCount();
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

}  // namespace ubique::probe
