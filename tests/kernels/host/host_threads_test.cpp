// SPDX-License-Identifier: Apache-2.0
// on_host_threads really runs on several threads, each with its own number.
#include "ubique/kernels/host/host_threads.h"

#include <ATen/Parallel.h>
#include <doctest/doctest.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace ubique::kernels;

namespace {

struct ThreadCount {
  explicit ThreadCount(int count) : before(at::get_num_threads()) { at::set_num_threads(count); }
  ~ThreadCount() { at::set_num_threads(before); }
  int before;
};

}  // namespace

TEST_CASE("host threads: every number is passed once, each on its own thread") {
  for (const int count : {1, 2, 3}) {
    const ThreadCount threads(count);
    REQUIRE(host_threads() == count);
    std::mutex mutex;
    std::multiset<std::int64_t> numbers;
    std::set<std::thread::id> workers;
    on_host_threads([&](std::int64_t thread) {
      const std::lock_guard lock(mutex);
      numbers.insert(thread);
      workers.insert(std::this_thread::get_id());
    });
    CHECK(workers.size() == static_cast<std::size_t>(count));
    std::multiset<std::int64_t> expected;
    for (int i = 0; i < count; ++i) expected.insert(i);
    CHECK(numbers == expected);
  }
}

TEST_CASE("host threads: a loop inside a loop does all of its work") {
  const ThreadCount threads(2);
  std::vector<int> inner(2);
  on_host_threads([&](std::int64_t thread) {
    on_host_threads([&](std::int64_t) { ++inner[static_cast<std::size_t>(thread)]; });
  });
  CHECK(inner == std::vector<int>{2, 2});
}

TEST_CASE("host threads: an exception reaches the caller") {
  const ThreadCount threads(2);
  CHECK_THROWS_AS(on_host_threads([](std::int64_t thread) {
                    if (thread == 1) throw std::runtime_error("no");
                  }),
                  std::runtime_error);
}
