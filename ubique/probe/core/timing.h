// SPDX-License-Identifier: Apache-2.0
// How long a small piece of work takes on a device. Used to choose between things that are all
// right.
#pragma once

#include <c10/core/Device.h>

#include <functional>

namespace ubique::probe {

/// Median milliseconds of `work` after a warm-up, waiting for the device each time. Up to nine
/// runs, fewer when they are long: about 50 ms are spent in all.
double median_ms(c10::Device device, const std::function<void()>& work);

/// LibTorch's threads on the CPU while it lives. Most probes are so small that one is fastest,
/// above all where other programs are busy: threads that wait for each other burn their time
/// slices.
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
