// SPDX-License-Identifier: Apache-2.0
// Loops of a team do each piece once, one loop after the other, however many threads come.
#include "ubique/kernels/host/host_team.h"

#include <ATen/Parallel.h>
#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "ubique/kernels/host/host_threads.h"

using namespace ubique::kernels;

namespace {

struct TeamThreads {
  explicit TeamThreads(int count) : before(at::get_num_threads()) { at::set_num_threads(count); }
  ~TeamThreads() { at::set_num_threads(before); }
  int before;
};

/// Each loop writes into every place what the loop before left in the next one, plus one.
std::int64_t sum_after_loops(int loops, std::int64_t places) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(places)), next(values);
  HostTeam::run([&](HostTeam& team) {
    for (int loop = 0; loop < loops; ++loop) {
      team.each(places, [&](std::int64_t i) {
        next[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>((i + 1) % places)] + 1;
      });
      values.swap(next);
    }
  });
  std::int64_t sum = 0;
  for (const auto value : values) sum += value;
  return sum;
}

}  // namespace

TEST_CASE("host team: every piece of every loop is done once, after the loop before") {
  for (const int threads : {1, 2, 5}) {
    CAPTURE(threads);
    const TeamThreads count(threads);
    for (const std::int64_t places : {1, 2, 7, 300}) {
      CHECK(sum_after_loops(2000, places) == 2000 * places);
    }
  }
}

TEST_CASE("host team: inside another parallel loop it leads alone") {
  const TeamThreads count(2);
  std::atomic<std::int64_t> sum = 0;
  on_host_threads([&](std::int64_t) { sum += sum_after_loops(20, 10); });
  CHECK(sum == 400);
}

TEST_CASE("host team: an exception of the leader reaches the caller and frees the helpers") {
  const TeamThreads count(3);
  CHECK_THROWS_AS(HostTeam::run([](HostTeam& team) {
                    team.each(9, [](std::int64_t) {});
                    throw std::runtime_error("no");
                  }),
                  std::runtime_error);
  CHECK(sum_after_loops(3, 5) == 15);
}
