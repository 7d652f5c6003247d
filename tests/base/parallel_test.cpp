// SPDX-License-Identifier: Apache-2.0
// parallel_for: coverage of the range, grain, and errors.
#include "ubique/base/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "scratch.h"
#include "ubique/base/error.h"

using namespace ubique;

TEST_CASE("parallel: every index is visited once, whatever the count, threads and grain") {
  for (const std::int64_t count : {0, 1, 2, 7, 100, 1001}) {
    for (const int threads : {-1, 0, 1, 2, 3, 16}) {
      for (const std::int64_t grain : {0, 1, 64, 5000}) {
        CAPTURE(count);
        CAPTURE(threads);
        CAPTURE(grain);
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        parallel_for(
            count, threads,
            [&](std::int64_t begin, std::int64_t end) {
              for (auto i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
            },
            grain);
        for (const auto& visit : visits) CHECK(visit == 1);
      }
    }
  }
}

TEST_CASE("parallel: no part but the last is shorter than the grain") {
  std::atomic<int> parts = 0;
  parallel_for(
      100, 8,
      [&](std::int64_t begin, std::int64_t end) {
        ++parts;
        CHECK((end - begin >= 30 || end == 100));
      },
      30);
  CHECK(parts == 4);
}

TEST_CASE("parallel: the error of one part reaches the caller, and all threads have ended") {
  for (const int threads : {1, 4}) {
    std::atomic<int> running = 0;
    const auto message = test::refusal_of(ErrorKind::Input, [&] {
      parallel_for(1000, threads, [&](std::int64_t begin, std::int64_t end) {
        ++running;
        const bool bad = begin <= 500 && 500 < end;
        --running;
        check(!bad, ErrorKind::Input, "[test.parallel] part with 500");
      });
    });
    CHECK(message == "[test.parallel] part with 500");
    CHECK(running == 0);
  }
}
