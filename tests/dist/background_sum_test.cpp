// SPDX-License-Identifier: Apache-2.0
// Sums that a thread of each rank makes while the rank does something else.
#include "ubique/dist/background_sum.h"

#include <ATen/ATen.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "tests/dist/as_ranks.h"
#include "ubique/base/error.h"
#include "ubique/device/runtime.h"

using namespace ubique;
using namespace ubique::test;
using dist::BackgroundSum, dist::RowsOfRank, dist::World;

namespace {

const doctest::skip kSumsNeedGloo(!dist::has_gloo());

at::Tensor sum_in_order(const at::Tensor& rows) {
  auto sum = rows[0].clone();
  for (std::int64_t i = 1; i < rows.size(0); ++i) sum.add_(rows[i]);
  return sum;
}

/// Rows of each rank in turn, of two buckets: the first `cut` columns and the others.
std::vector<at::Tensor> sums_of(World& world, const at::Tensor& rows,
                                const std::vector<RowsOfRank>& ranks, std::int64_t cut) {
  BackgroundSum sums(world, at::kCPU);
  sums.begin({{at::kFloat, cut}, {at::kFloat, rows.size(1) - cut}}, ranks);
  std::int64_t mine = 0;
  for (int i = 0; i < world.rank(); ++i) mine += ranks[i].rows;
  for (std::int64_t round = 0; round < sums.rounds(); ++round) {
    const bool has = ranks[world.rank()].has(round);
    const auto row = has ? rows[mine++] : at::Tensor();
    for (const auto& [bucket, first, width] :
         {std::tuple{0, std::int64_t{0}, cut}, std::tuple{1, cut, rows.size(1) - cut}}) {
      std::vector<dist::SumPiece> pieces;
      if (has) pieces = {{row.narrow(0, first, width), width}};
      sums.push(bucket, round, std::move(pieces));
    }
  }
  return sums.finish();
}

}  // namespace

TEST_CASE("background sum: it has the bits of one process, whoever has which rows and when" *
          kSumsNeedGloo) {
  const auto rows = at::randn({7, 1001}).mul(at::logspace(-6, 6, 7).unsqueeze(1));
  const auto expected = sum_in_order(rows);
  // The order matters, or this would prove nothing.
  CHECK_FALSE(at::equal(expected, sum_in_order(rows.flip({0}))));
  for (const auto& ranks : std::vector<std::vector<RowsOfRank>>{{{3, 0}, {4, 0}},
                                                                {{7, 0}, {0, 0}},
                                                                {{0, 0}, {7, 0}},
                                                                {{1, 3}, {2, 0}, {4, 1}},
                                                                {{0, 0}, {5, 2}, {2, 0}},
                                                                {{1, 0}, {2, 0}, {3, 0}, {1, 5}}}) {
    check_all_well(as_ranks(static_cast<int>(ranks.size()), 60, [&](World& world) {
      const auto sums = sums_of(world, rows, ranks, 300);
      if (!at::equal(at::cat(sums), expected)) fail(ErrorKind::Internal, "[test] another sum");
    }));
  }
}

TEST_CASE("background sum: pieces that are missing add nothing, not even to negative zero" *
          kSumsNeedGloo) {
  check_all_well(as_ranks(2, 60, [](World& world) {
    BackgroundSum sums(world, at::kCPU);
    sums.begin({{at::kFloat, 5}}, {{1, 0}, {1, 0}});
    if (world.is_first()) {
      sums.push(0, 0, {{{}, 2}, {at::full({3}, -0.0, at::kFloat), 3}});
    } else {
      sums.push(0, 0, {{at::full({2}, -0.0, at::kFloat), 2}, {{}, 3}});
    }
    const auto sum = sums.finish().front();
    if (!sum.signbit().all().item<bool>()) fail(ErrorKind::Internal, "[test] not -0.0");
  }));
}

TEST_CASE("background sum: a rank that vanishes is named by push or finish of the others" *
          kSumsNeedGloo) {
  const auto errors = as_ranks(2, 60, [](World& world) {
    BackgroundSum sums(world, at::kCPU);
    sums.begin({{at::kFloat, 8}}, {{1, 0}, {1, 0}});
    if (world.rank() == 1) return;  // its connections close
    sums.push(0, 0, {{at::ones({8}), 8}});
    sums.finish();
  });
  CHECK(errors[1] == "");
  CHECK_MESSAGE(errors[0].find("rank 1 is lost") != std::string::npos, errors[0]);
}

TEST_CASE("background sum: one that is given up does not wait for the others" * kSumsNeedGloo) {
  check_all_well(as_ranks(2, 60, [](World& world) {
    auto sums = std::make_unique<BackgroundSum>(world, at::kCPU);
    sums->begin({{at::kFloat, 8}}, {{1, 0}, {1, 0}});
    if (world.is_first()) {
      sums->push(0, 0, {{at::ones({8}), 8}});  // rank 1 pushes nothing, and stays connected
      sums.reset();
    }
    world.gather("rank 0 did not wait");
  }));
}

TEST_CASE("transport: connections that another rank closes are no loss once they are given up" *
          kSumsNeedGloo) {
  check_all_well(as_ranks(2, 60, [](World& world) {
    auto connections = world.beside(at::kCPU);
    std::string error;
    std::thread waiting;
    if (world.is_first()) {
      waiting = std::thread([&] {
        try {
          connections->gather(at::empty({2, 8}), at::ones({8}));
        } catch (const std::exception& caught) {
          error = caught.what();
        }
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it waits for rank 1 now
      connections->abandon();
    }
    world.gather("given up");
    if (!world.is_first()) connections.reset();
    if (waiting.joinable()) waiting.join();
    world.gather("nobody was called lost");
    if (world.is_first() && error.find("abandoned") == std::string::npos) {
      fail(ErrorKind::Internal, "[test] {}", error);
    }
  }));
}

TEST_CASE(
    "background: out of memory there ends the run, since the others wait for what never comes" *
    kSumsNeedGloo) {
  check_all_well(as_ranks(2, 60, [](World& world) {
    dist::Background background(world.beside(at::kCPU), at::kCPU);
    const auto job = background.push([](dist::Transport& /*transport*/) {
      TORCH_CHECK_WITH(OutOfMemoryError, false, "Tried to allocate 2.00 GiB.\nDetails");
    });
    std::string text;
    try {
      background.wait(job);
    } catch (const std::exception& error) {
      text = error.what();
      if (device::is_out_of_memory(error)) fail(ErrorKind::Internal, "[test] would be tried again");
    }
    check(text.find("Use a smaller --batch") != std::string::npos &&
              text.find("Details") == std::string::npos,
          ErrorKind::Internal, "[test] {}", text);
    world.gather("both are here");
  }));
}

TEST_CASE("background sum: own shares are added up round by round, whoever has rows" *
          kSumsNeedGloo) {
  const auto rows = at::arange(30, at::kFloat).view({3, 10});
  check_all_well(as_ranks(2, 60, [&](World& world) {
    BackgroundSum sums(world, at::kCPU);
    sums.begin({{at::kFloat, 10}}, {{2, 0}, {1, 0}}, dist::SumResult::OwnShare);
    for (std::int64_t round = 0; round < sums.rounds(); ++round) {
      const bool has = world.is_first() || round == 0;
      std::vector<dist::SumPiece> pieces;
      if (has) pieces = {{rows[world.is_first() ? 2 * round : 1], 10}};
      sums.push(0, round, std::move(pieces));
    }
    const auto share = sums.finish().front();
    const auto expected = rows.sum(0).narrow(0, 5 * world.rank(), 5);
    if (!at::equal(share, expected)) fail(ErrorKind::Internal, "[test] another share");
  }));
}
