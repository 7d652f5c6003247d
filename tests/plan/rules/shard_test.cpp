// SPDX-License-Identifier: Apache-2.0
// What the processes of a training split among themselves: nothing while all fits, then optimizer
// states, then weights.
#include <doctest/doctest.h>

#include "ubique/base/error.h"
#include "ubique/device/facts.h"
#include "ubique/plan/plan.h"
#include "ubique/plan/report.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

device::Facts card(std::int64_t gigabytes) {
  device::Facts facts;
  facts.kind = device::Kind::Cuda;
  facts.backend = "cuda";
  facts.name = "a card";
  facts.budget_bytes = gigabytes * kGiB;
  facts.budget_reason = "of a test";
  facts.native_dtypes = {DType::F32};
  return facts;
}

/// A billion numbers in f32: 4 GB of weights, 4 of gradients, 8 of optimizer states.
Needs large_model() {
  Needs needs;
  needs.name = "large";
  needs.parameters = {{.name = "network", .count = 1'000'000'000, .in_blocks = 960'000'000}};
  needs.blocks = 48;
  needs.activations.saved = 1'000'000;
  needs.activations.run = 1000;
  needs.effective_batch = 64;
  needs.checkpointing = {.supported = true, .kept = 0.1, .extra = 0.33, .levels = {}};
  return needs;
}

Plan plan_of(std::int64_t gigabytes, int processes, std::optional<Shard> shard = std::nullopt,
             const Needs& needs = large_model()) {
  Wishes wishes;
  wishes.dtype = DType::F32;
  wishes.world_size = processes;
  wishes.shard = shard;
  return make_plan(card(gigabytes), {}, needs, wishes);
}

}  // namespace

TEST_CASE("shard: nothing is split while everything fits, or by a process alone") {
  CHECK(plan_of(40, 4).shard.value == Shard::None);
  CHECK(plan_of(40, 4).shard.reason == "everything fits whole");
  CHECK(plan_of(40, 1, Shard::Weights).shard.value == Shard::None);
  CHECK(plan_of(40, 1).shard.reason == "one process");
}

TEST_CASE("shard: what does not fit whole is split, no more than needed") {
  const auto states = plan_of(14, 8);
  CHECK(states.shard.value == Shard::Optimizer);
  REQUIRE(states.shard.rejected.size() == 1);
  CHECK(states.shard.rejected.front().why.find("has 14.0 GiB") != std::string::npos);
  const auto weights = plan_of(6, 8);
  CHECK(weights.shard.value == Shard::Weights);
  CHECK(weights.checkpointing.value);
  CHECK(weights.memory.weights + weights.memory.gradients + weights.memory.optimizer < 4 * kGiB);
  CHECK_THROWS_AS(plan_of(1, 8), DoesNotFit);
  CHECK_THROWS_AS(plan_of(12, 1), DoesNotFit);
}

TEST_CASE("shard: with more processes each has less") {
  std::int64_t before = plan_of(40, 2, Shard::Weights).memory.total;
  for (const int processes : {4, 8, 16}) {
    const auto total = plan_of(40, processes, Shard::Weights).memory.total;
    CHECK(total < before);
    before = total;
  }
}

TEST_CASE("shard: more memory never means fewer samples at once, or more splitting") {
  std::int64_t samples = 0;
  auto before = Shard::Weights;
  auto needs = large_model();
  needs.activations.saved = 250'000'000;
  needs.busy_batch = 2;
  for (std::int64_t gigabytes = 6; gigabytes <= 60; ++gigabytes) {
    CAPTURE(gigabytes);
    const auto plan = plan_of(gigabytes, 8, std::nullopt, needs);
    CHECK(plan.micro_batch.value >= samples);
    CHECK(plan.shard.value <= before);
    samples = plan.micro_batch.value;
    before = plan.shard.value;
  }
  CHECK(before == Shard::None);
}

TEST_CASE("shard: optimizer states are split where that saves computing twice") {
  auto needs = large_model();
  needs.activations.saved = 1'000'000'000;
  const auto plan = plan_of(20, 8, std::nullopt, needs);
  CHECK(plan.shard.value == Shard::Optimizer);
  CHECK_FALSE(plan.checkpointing.value);
  CHECK(plan_of(20, 8, Shard::None, needs).checkpointing.value);
}

TEST_CASE("shard: weights are not split by themselves where nothing may be computed twice") {
  auto needs = large_model();
  needs.checkpointing.supported = false;
  CHECK_THROWS_AS(plan_of(5, 8, std::nullopt, needs), DoesNotFit);
  CHECK_THROWS_WITH_AS(plan_of(40, 8, Shard::Weights, needs),
                       doctest::Contains("together with gradient checkpointing"), Error);
}

TEST_CASE("shard: a wish is kept, or refused with its reason") {
  CHECK(plan_of(40, 4, Shard::Weights).shard.reason.starts_with("as asked"));
  CHECK(plan_of(40, 4, Shard::Optimizer).shard.value == Shard::Optimizer);
  CHECK(plan_of(40, 4, Shard::None).shard.reason == "as asked");
  CHECK_THROWS_AS(plan_of(12, 8, Shard::None), DoesNotFit);
  auto in_one = large_model();
  in_one.blocks = 0;
  CHECK_THROWS_WITH_AS(plan_of(40, 4, Shard::Weights, in_one),
                       doctest::Contains("weights of large cannot be split"), Error);
  auto own = large_model();
  own.own_optimizer = true;
  CHECK_THROWS_WITH_AS(plan_of(40, 4, Shard::Optimizer, own),
                       doctest::Contains("optimizer of its own"), Error);
  CHECK_THROWS_AS(plan_of(12, 8, std::nullopt, own), DoesNotFit);
}

TEST_CASE("shard: the row is shown where there are several processes") {
  const auto has_row = [](const Plan& plan) {
    for (const auto& field : fields(plan)) {
      if (std::string(field.key) == "shard") return true;
    }
    return false;
  };
  CHECK(has_row(plan_of(40, 4)));
  CHECK_FALSE(has_row(plan_of(40, 1)));
}
