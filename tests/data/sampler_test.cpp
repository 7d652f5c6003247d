// SPDX-License-Identifier: Apache-2.0
// Orders of epochs, updates and micro-batches.
#include "ubique/data/sampler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "tests/base/scratch.h"

using namespace ubique;
using data::Cursor;
using data::MicroBatch;
using data::Sampler;

namespace {

/// All samples of an epoch in the order of micro-batches of this size.
std::vector<std::int64_t> epoch_order(Sampler& sampler, std::int64_t epoch, std::int64_t at_once) {
  std::vector<std::int64_t> order;
  for (std::int64_t update = 0; update < sampler.updates_per_epoch(); ++update) {
    for (const auto& batch : sampler.micro_batches({epoch, update}, at_once)) {
      CHECK(batch.position == static_cast<std::int64_t>(order.size()));
      order.insert(order.end(), batch.indices.begin(), batch.indices.end());
    }
  }
  return order;
}

}  // namespace

TEST_CASE("sampler: each epoch has every sample once, in an order of its own") {
  Sampler sampler(11, 4, Random(1, 2));
  CHECK(sampler.updates_per_epoch() == 3);
  const auto first = epoch_order(sampler, 0, 2), second = epoch_order(sampler, 1, 2);
  CHECK(first != second);
  CHECK(first == epoch_order(sampler, 0, 2));
  CHECK(first == Random(1, 2).fork(0).permutation(11));
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int64_t> all(11);
  std::iota(all.begin(), all.end(), 0);
  CHECK(sorted == all);
}

TEST_CASE("sampler: the order does not depend on how an update is cut") {
  Sampler sampler(23, 6, Random(9));
  const auto whole = epoch_order(sampler, 4, 6);
  for (const std::int64_t at_once : {1, 2, 3, 4, 5}) {
    CHECK(epoch_order(sampler, 4, at_once) == whole);
  }
}

TEST_CASE(
    "sampler: the last update takes the remaining samples, and the last micro-batch may be short") {
  Sampler sampler(10, 8, Random(3));
  const auto full = sampler.micro_batches({0, 0}, 3);
  REQUIRE(full.size() == 3);
  CHECK(full[0].parts == 3);
  CHECK(full[2].part == 2);
  CHECK(full[2].indices.size() == 2);
  const auto rest = sampler.micro_batches({0, 1}, 3);
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].indices.size() == 2);
  CHECK(rest[0].parts == 1);
}

TEST_CASE("sampler: after the last update of an epoch comes the first of the next") {
  const Sampler sampler(10, 4, Random(3));
  CHECK(sampler.after({2, 0}) == Cursor{2, 1});
  CHECK(sampler.after({2, 2}) == Cursor{3, 0});
}

TEST_CASE("sampler: an empty training set is refused") {
  test::refusal_of(ErrorKind::Input, [] { Sampler(0, 4, Random(1)); });
}

TEST_CASE("sampler: a given order is used as it is, and micro-batches know their positions") {
  Sampler sampler(
      6, 4, [](std::int64_t epoch) { return std::vector<std::int64_t>{epoch, 5, 5, 5, 1, epoch}; });
  const auto batches = sampler.micro_batches({2, 0}, 3);
  REQUIRE(batches.size() == 2);
  CHECK(batches[0].indices == std::vector<std::int64_t>{2, 5, 5});
  CHECK(batches[0].first == 0);
  CHECK(batches[1].first == 3);
  const auto rest = sampler.micro_batches({2, 1}, 3);
  CHECK(rest[0].indices == std::vector<std::int64_t>{1, 2});
  CHECK(rest[0].first == 0);
  CHECK(rest[0].position == 4);
  Sampler short_of(6, 4, [](std::int64_t) { return std::vector<std::int64_t>{1}; });
  test::refusal_of(ErrorKind::Internal, [&] { short_of.micro_batches({0, 0}, 3); });
}
