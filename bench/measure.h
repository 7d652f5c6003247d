// SPDX-License-Identifier: Apache-2.0
// How benchmarks time work on a device: warmed up, several rounds, the median, with the device's
// own count of its peak memory.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "bench/profile_kernels.h"
#include "bench/profile_ops.h"
#include "ubique/device/runtime.h"

namespace ubique::bench {

struct Measured {
  double ms = 0;               ///< median over the rounds
  double best_ms = 0;          ///< of the rounds
  std::int64_t peak = 0;       ///< from the first step on: what the plan predicts
  std::int64_t warm_peak = 0;  ///< of the timed steps: what the vendor's trials take is over
};

/// Milliseconds of one piece of work, for each round of `pieces` that are waited for together.
template <typename Work>
std::vector<double> times_of(const Work& work, c10::Device device, int rounds, int pieces) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    device::synchronize(device);
    const auto start = std::chrono::steady_clock::now();
    for (int j = 0; j < pieces; ++j) work();
    device::synchronize(device);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    times.push_back(taken.count() / pieces);
  }
  std::sort(times.begin(), times.end());
  return times;
}

/// Warms up, then times. With PROFILE=1 in the environment, one more pass prints what each op
/// takes; with TRACE=FILE.json one more writes what each kernel does, recorded work too.
template <typename Work>
Measured measure(const Work& work, c10::Device device, int rounds, int pieces = 1) {
  for (int i = 0; i < 3; ++i) work();
  const auto peak = device::memory_use(device).peak_bytes;
  device::reset_peak(device);
  const auto times = times_of(work, device, rounds, pieces);
  const auto warm = device::memory_use(device).peak_bytes;
  if (std::getenv("PROFILE") != nullptr) {
    OpProfile profile(device);
    profile.watch(work);
    profile.print(40);
  }
  if (const char* file = std::getenv("TRACE")) trace_kernels(work, device, file);
  return {times[times.size() / 2], times.front(), std::max(peak, warm), warm};
}

}  // namespace ubique::bench
