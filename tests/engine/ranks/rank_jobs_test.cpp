// SPDX-License-Identifier: Apache-2.0
// Jobs that ranks share: everybody gets all results in their order, whoever did them.
#include "ubique/engine/ranks/rank_jobs.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/dist/as_ranks.h"
#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/ranks/rank_progress.h"

using namespace ubique;
using engine::RankJobs;

namespace {

const doctest::skip kGlooOnly(!dist::has_gloo());
const std::vector<std::string> kWell3(3);

/// Numbers whose sum depends on the order, and ones that text would lose.
Json number_of(std::int64_t job) {
  if (job == 4) return -0.0;
  return std::pow(10.0, 17 - 5 * static_cast<double>(job)) / 3;
}

}  // namespace

TEST_CASE("rank jobs: one process does all jobs in their order") {
  const RankJobs jobs(3);
  CHECK(jobs.mine() == std::vector<std::int64_t>{0, 1, 2});
  CHECK(jobs.has(2));
  CHECK(jobs.pick(std::vector<std::string>{"a", "b", "c"}) ==
        std::vector<std::string>{"a", "b", "c"});
  const auto after_stop = jobs.collect({Json("done")});
  REQUIRE(after_stop.size() == 3);
  CHECK(after_stop[0] == "done");
  CHECK(after_stop[1].is_null());
  CHECK(RankJobs(0).collect({}).empty());
  CHECK_NOTHROW(engine::require_one_process("a chat"));
}

TEST_CASE("rank jobs: every rank has the bits of one process, in the order of the jobs" *
          kGlooOnly) {
  const std::int64_t count = 8;
  const auto expected = engine::share_jobs(count, number_of);
  const auto errors = test::as_ranks(3, 60, [&](const dist::World& world) {
    const auto all = engine::share_jobs(count, number_of, world);
    check(all.size() == expected.size(), ErrorKind::Internal, "{} results", all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto got = all[i].get<double>(), wanted = expected[i].get<double>();
      check(got == wanted && std::signbit(got) == std::signbit(wanted), ErrorKind::Internal,
            "job {} is {}", i, got);
    }
    const auto list = [](std::int64_t job) {
      return std::vector<double>{number_of(job).get<double>(), 1};
    };
    check(engine::share_sums(count, 2, list, world) == engine::share_sums(count, 2, list),
          ErrorKind::Internal, "other sums");
  });
  CHECK(errors == kWell3);
}

TEST_CASE("rank jobs: more ranks than jobs, no jobs, and bytes that are no text" * kGlooOnly) {
  const auto errors = test::as_ranks(3, 60, [](const dist::World& world) {
    check(engine::share_jobs(0, number_of, world).empty(), ErrorKind::Internal, "jobs of none");
    const auto bytes = Json::binary({0, 255, 7});
    const auto one = engine::share_jobs(
        1,
        [&](std::int64_t) {
          return Json{{"bytes", bytes}, {"name", "\xff\xfe"}};
        },
        world);
    check(one.size() == 1 && one[0]["bytes"] == bytes && one[0]["name"] == "\xff\xfe",
          ErrorKind::Internal, "other bytes");
    const auto nan = engine::share_jobs(
        2, [](std::int64_t) { return Json(std::numeric_limits<double>::quiet_NaN()); }, world);
    check(std::isnan(nan[1].get<double>()), ErrorKind::Internal, "a number");
  });
  CHECK(errors == kWell3);
}

TEST_CASE("rank jobs: ranks that see other files are told so, all of them" * kGlooOnly) {
  const auto errors = test::as_ranks(3, 60, [](const dist::World& world) {
    RankJobs(2, {"a.png", world.rank() == 2 ? "c.png" : "b.png"}, world);
  });
  for (const auto& error : errors) {
    CHECK(error.find("rank 2 sees other work than rank 0; got 2 jobs (list ") != std::string::npos);
  }
}

TEST_CASE("rank jobs: what cannot be shared out is refused by every rank" * kGlooOnly) {
  for (const auto& error : test::as_ranks(
           2, 60, [](const dist::World& world) { engine::require_one_process("a chat", world); })) {
    CHECK(error.find("a chat cannot be shared out; got 2 processes") != std::string::npos);
  }
}

TEST_CASE("rank progress: all ranks finish a bar together, one list after another" * kGlooOnly) {
  const auto errors = test::as_ranks(3, 60, [](const dist::World& world) {
    for (const std::int64_t total : {5, 0, 4}) {
      const RankJobs jobs(total, world);
      engine::RankProgress progress(
          {.title = "test", .total = total, .unit = "jobs", .style = ProgressStyle::Lines}, world);
      for ([[maybe_unused]] const auto job : jobs.mine()) progress.advance();
      progress.finish();
    }
    check(world.steps().size() == 3, ErrorKind::Internal, "{} notes", world.steps().size());
    const auto mine = world.steps()[static_cast<std::size_t>(world.rank())];
    check(mine == (world.rank() == 0   ? 4
                   : world.rank() == 1 ? 3
                                       : 2),
          ErrorKind::Internal, "rank {} noted {}", world.rank(), mine);
  });
  CHECK(errors == kWell3);
}
