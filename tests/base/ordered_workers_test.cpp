// SPDX-License-Identifier: Apache-2.0
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

TEST_CASE("drain: results come in the order of the jobs, with any number of threads") {
  for (const int threads : {0, 1, 2, 5}) {
    CAPTURE(threads);
    std::vector<int> got;
    OrderedWorkers<int> drain([&](int&& number) { got.push_back(number); }, threads);
    for (int i = 0; i < 60; ++i) drain.push(number_job(i));
    drain.finish();
    REQUIRE(got.size() == 60);
    for (int i = 0; i < 60; ++i) CHECK(got[static_cast<std::size_t>(i)] == i);
    drain.push(number_job(60));  // it goes on
    drain.finish();
    CHECK(got.back() == 60);
  }
}

TEST_CASE("drain: it takes only so many jobs at once") {
  std::atomic<bool> go = false;
  std::atomic<int> taken = 0, given = 0;
  OrderedWorkers<int> drain([&](int&&) { ++given; }, 2);
  std::thread feeder([&] {
    for (int i = 0; i < 50; ++i) {
      drain.push([&go] {
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
  drain.finish();
  CHECK(given == 50);
}

TEST_CASE("drain: the first error of a job or of the sink stops it and comes out") {
  for (const int threads : {0, 3}) {
    CAPTURE(threads);
    std::atomic<int> given = 0;
    const auto feed = [&](OrderedWorkers<int>& drain) {
      for (int i = 0; i < 1000; ++i) {
        drain.push([i]() -> int {
          if (i == 4) throw std::runtime_error("job 4 broke");
          return i;
        });
      }
      drain.finish();
    };
    OrderedWorkers<int> drain([&](int&&) { ++given; }, threads);
    CHECK_THROWS_WITH(feed(drain), "job 4 broke");
    CHECK(given <= 4);
    OrderedWorkers<int> full([](int&&) { throw std::runtime_error("no room"); }, threads);
    CHECK_THROWS_WITH(feed(full), doctest::Contains("o"));
  }
}

TEST_CASE("drain: left without finish, it ends without the jobs that have not begun") {
  std::atomic<int> done = 0;
  {
    OrderedWorkers<int> drain([](int&&) {}, 1);
    for (int i = 0; i < 2; ++i) {
      drain.push([&done] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        return ++done;
      });
    }
  }
  CHECK(done <= 1);
}
