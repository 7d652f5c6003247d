// SPDX-License-Identifier: Apache-2.0
// The median of repeated runs, and the scoped thread count.
#include "ubique/probe/core/timing.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "ubique/device/runtime.h"

namespace ubique::probe {
namespace {

constexpr double kTimingBudgetMs = 50;
constexpr std::size_t kMostRuns = 9;

double run_ms(c10::Device device, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  work();
  device::synchronize(device);
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

ThreadCount::ThreadCount(int threads) : before_(at::get_num_threads()) {
  at::set_num_threads(threads);
}

ThreadCount::~ThreadCount() { at::set_num_threads(before_); }

double median_ms(c10::Device device, const std::function<void()>& work,
                 const std::function<bool()>& stop) {
  device::synchronize(device);
  const double warm_up = run_ms(device, work);
  std::vector<double> times;
  // A first run that alone exceeds the budget is taken as it is, unless it may have been compiling.
  double spent = warm_up > 10 * kTimingBudgetMs ? kTimingBudgetMs : 0;
  do {
    times.push_back(run_ms(device, work));
    spent += times.back();
  } while (spent < kTimingBudgetMs && times.size() < kMostRuns && !(stop && stop()));
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

}  // namespace ubique::probe
