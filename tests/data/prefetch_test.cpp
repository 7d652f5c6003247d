// SPDX-License-Identifier: Apache-2.0
// Order, look-ahead, exceptions and shutdown of prefetching.
#include "ubique/data/prefetch.h"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <string>

using ubique::data::Prefetch;

namespace {

/// Jobs 0..count-1 that return their number; every third one takes longer than the others.
Prefetch<int>::Source numbers(int count, std::atomic<int>* begun = nullptr) {
  auto next = std::make_shared<int>(0);
  return [next, count, begun]() -> std::optional<Prefetch<int>::Job> {
    if (*next == count) return std::nullopt;
    return [number = (*next)++, begun] {
      if (begun != nullptr) ++*begun;
      if (number % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
      return number;
    };
  };
}

}  // namespace

TEST_CASE("prefetch: items come in order and end, with any number of threads") {
  for (const int threads : {0, 1, 2, 5}) {
    CAPTURE(threads);
    Prefetch<int> prefetch(numbers(50), threads);
    for (int i = 0; i < 50; ++i) REQUIRE(prefetch.next().value() == i);
    CHECK_FALSE(prefetch.next().has_value());
    CHECK_FALSE(prefetch.next().has_value());
  }
}

TEST_CASE("prefetch: the look-ahead is limited") {
  std::atomic<int> begun = 0;
  Prefetch<int> prefetch(numbers(100, &begun), 2);
  CHECK(prefetch.next() == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(begun <= 3);  // the one taken and two ahead
}

TEST_CASE("prefetch: an exception is thrown in order, and later items follow") {
  for (const int threads : {0, 3}) {
    int next = 0;
    Prefetch<std::string> prefetch(
        [&]() -> std::optional<Prefetch<std::string>::Job> {
          return [number = next++] {
            if (number == 2) throw std::runtime_error("job 2 broke");
            return std::to_string(number);
          };
        },
        threads);
    CHECK(prefetch.next() == "0");
    CHECK(prefetch.next() == "1");
    CHECK_THROWS_WITH(prefetch.next(), "job 2 broke");
    CHECK(prefetch.next() == "3");
  }
}

TEST_CASE("prefetch: an exception of the source is thrown and ends it") {
  Prefetch<int> prefetch(
      []() -> std::optional<Prefetch<int>::Job> { throw std::runtime_error("no more"); }, 2);
  CHECK_THROWS_WITH(prefetch.next(), "no more");
  CHECK_FALSE(prefetch.next().has_value());
}

TEST_CASE("prefetch: each thread is prepared before work begins, and leaving early is fine") {
  std::mutex mutex;
  std::set<std::thread::id> prepared;
  Prefetch<int> prefetch(numbers(1000), 4, [&] {
    const std::lock_guard lock(mutex);
    prepared.insert(std::this_thread::get_id());
  });
  {
    const std::lock_guard lock(mutex);
    CHECK(prepared.size() == 4);
    CHECK_FALSE(prepared.contains(std::this_thread::get_id()));
  }
  CHECK(prefetch.next() == 0);
}
