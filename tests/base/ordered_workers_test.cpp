// SPDX-License-Identifier: Apache-2.0
// OrderedWorkers: order of the results, limit on queued jobs, errors and early destruction.
#include "ubique/base/ordered_workers.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

using ubique::OrderedWorkers;

namespace {

/// A job that returns its number; every third one takes longer than the others.
OrderedWorkers<int>::Job number_job(int number) {
  return [number] {
    if (number % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    return number;
  };
}

}  // namespace

TEST_CASE("ordered workers: results come in the order of the jobs, with any number of threads") {
  for (const int threads : {0, 1, 2, 5}) {
    CAPTURE(threads);
    std::vector<int> got;
    OrderedWorkers<int> workers([&](int&& number) { got.push_back(number); }, threads);
    for (int i = 0; i < 60; ++i) workers.push(number_job(i));
    workers.finish();
    REQUIRE(got.size() == 60);
    for (int i = 0; i < 60; ++i) CHECK(got[static_cast<std::size_t>(i)] == i);
    workers.push(number_job(60));  // finish() does not end it
    workers.finish();
    CHECK(got.back() == 60);
  }
}

TEST_CASE("ordered workers: push waits while too many jobs are queued") {
  std::atomic<bool> go = false;
  std::atomic<int> taken = 0, given = 0;
  OrderedWorkers<int> workers([&](int&&) { ++given; }, 2);
  std::thread feeder([&] {
    for (int i = 0; i < 50; ++i) {
      workers.push([&go] {
        while (!go) std::this_thread::yield();
        return 0;
      });
      ++taken;
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(taken <= 4);
  CHECK(given == 0);
  go = true;
  feeder.join();
  workers.finish();
  CHECK(given == 50);
}

TEST_CASE("ordered workers: the first error of a job or of the sink stops them and is rethrown") {
  for (const int threads : {0, 3}) {
    CAPTURE(threads);
    std::atomic<int> given = 0;
    const auto feed = [&](OrderedWorkers<int>& workers) {
      for (int i = 0; i < 1000; ++i) {
        workers.push([i]() -> int {
          if (i == 4) throw std::runtime_error("job 4 broke");
          return i;
        });
      }
      workers.finish();
    };
    OrderedWorkers<int> workers([&](int&&) { ++given; }, threads);
    CHECK_THROWS_WITH(feed(workers), "job 4 broke");
    CHECK(given <= 4);
    OrderedWorkers<int> full([](int&&) { throw std::runtime_error("no room"); }, threads);
    CHECK_THROWS_WITH(feed(full), doctest::Contains("o"));
  }
}

TEST_CASE("ordered workers: destroyed without finish, they drop the jobs that have not begun") {
  std::atomic<int> done = 0;
  {
    OrderedWorkers<int> workers([](int&&) {}, 1);
    for (int i = 0; i < 2; ++i) {
      workers.push([&done] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        return ++done;
      });
    }
  }
  CHECK(done <= 1);
}
