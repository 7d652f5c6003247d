// SPDX-License-Identifier: Apache-2.0
// The choice of threads beside other programs, with a clock and a load of the test's own.
#include "ubique/device/threads/thread_choice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "ubique/device/threads/cpu_load.h"

namespace {

using ubique::device::ThreadChoice;

/// Runs pieces for `seconds`, each as long as `cost(threads)` says; the numbers of threads used.
template <typename Cost>
std::vector<int> work(ThreadChoice& choice, double& now, double seconds, int elsewhere,
                      const Cost& cost) {
  std::vector<int> used;
  for (const double end = now + seconds; now < end;) {
    used.push_back(choice.next(now, elsewhere));
    const double taken = cost(used.back());
    choice.took(taken);
    now += taken;
  }
  return used;
}

double small_network(int threads) { return threads == 1 ? 0.01 : 0.02; }
double large_network(int threads) { return threads == 1 ? 0.02 : 0.01; }

}  // namespace

TEST_CASE("threads: a quiet machine uses all of them, always") {
  ThreadChoice choice(2, 2);
  double now = 100;
  for (const int threads : work(choice, now, 60, 0, small_network)) REQUIRE(threads == 2);
}

TEST_CASE("threads: one passing glimpse of another program changes nothing") {
  ThreadChoice choice(2, 2);
  double now = 0;
  CHECK(choice.next(now, 1) == 2);
  for (const int threads : work(choice, now, 10, 0, small_network)) REQUIRE(threads == 2);
}

TEST_CASE("threads: beside other programs a small network uses fewer, and all again afterwards") {
  ThreadChoice choice(2, 2);
  double now = 0;
  const auto busy = work(choice, now, 10, 2, small_network);
  CHECK(busy.front() == 2);
  CHECK(busy.back() == 1);
  CHECK(choice.uses_fewer());
  CHECK(std::count(busy.begin(), busy.end(), 2) < 30);
  CHECK(choice.trial_means()[0] == doctest::Approx(0.02));
  CHECK(choice.trial_means()[1] == doctest::Approx(0.01));
  const auto quiet = work(choice, now, 2, 0, small_network);
  CHECK(quiet.back() == 2);
}

TEST_CASE("threads: beside other programs a network that gains from all threads keeps them") {
  ThreadChoice choice(2, 2);
  double now = 0;
  const auto used = work(choice, now, 60, 2, large_network);
  CHECK(used.back() == 2);
  CHECK(std::count(used.begin(), used.end(), 1) > 0);
  CHECK(std::count(used.begin(), used.end(), 1) < 30);
}

TEST_CASE("threads: pieces of many seconds are not tried with fewer") {
  ThreadChoice choice(2, 2);
  double now = 0;
  for (const int threads : work(choice, now, 200, 2, [](int) { return 5.0; })) {
    REQUIRE(threads == 2);
  }
}

TEST_CASE("threads: on many cores only those that others use are given up") {
  ThreadChoice choice(16, 16);
  double now = 0;
  const auto used =
      work(choice, now, 10, 3, [](int threads) { return threads == 16 ? 0.03 : 0.01; });
  CHECK(used.back() == 13);
  // Threads that leave room for the others anyway are kept.
  ThreadChoice few(4, 16);
  for (const int threads : work(few, now, 10, 3, small_network)) REQUIRE(threads == 4);
}

TEST_CASE("load: runnable threads are read from /proc/loadavg, and odd lines are not believed") {
  using ubique::device::runnable_in;
  CHECK(runnable_in("0.20 0.18 0.12 3/811 4211") == 3);
  CHECK(runnable_in("0.20 0.18 0.12 12/811 4211") == 12);
  CHECK_FALSE(runnable_in("").has_value());
  CHECK_FALSE(runnable_in("0.20 0.18 0.12").has_value());
  CHECK_FALSE(runnable_in("0.20 x/811").has_value());
  CHECK_FALSE(runnable_in("0.20 -3/811").has_value());
}

TEST_CASE("load: a thread's state is read behind its name, whatever the name holds") {
  using ubique::device::is_runnable;
  CHECK(is_runnable("12 (ubique) R 1 12"));
  CHECK_FALSE(is_runnable("12 (ubique) S 1 12"));
  CHECK_FALSE(is_runnable("12 (a) R (b) S 1 12"));
  CHECK_FALSE(is_runnable(""));
}
