// SPDX-License-Identifier: Apache-2.0
// Updates of ranks that are threads here, over real connections: the sums have the bits of one
// process in the order of micro-batches, and are the same numbers in the order of ranks.
#include "ubique/engine/ranks/rank_sum.h"

#include <doctest/doctest.h>

#include "tests/dist/as_ranks.h"
#include "tests/engine/toy.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/ranks/shard.h"

using namespace ubique;
using namespace ubique::test;
using engine::GradientAccumulation, engine::RankSum, engine::Shard, engine::SumOrder;

namespace {

struct Update {
  std::string error;
  std::vector<at::Tensor> gradients;
  double loss = 0, miss = 0, weight = 0, factor = 0;
  std::int64_t samples = 0;
};

constexpr std::int64_t kSamples = 7;  // in micro-batches of two: the last has one

Batch part_of(const ToyDataset& data, std::int64_t part) {
  std::vector<std::int64_t> indices;
  for (auto i = 2 * part; i < std::min(kSamples, 2 * part + 2); ++i) indices.push_back(i);
  return data.load(indices, engine::SampleRandoms(Random(1)));
}

Update finished(const engine::NamedTensors& parameters, const GradientAccumulation& sum) {
  Update update;
  for (const auto& [name, parameter] : parameters) update.gradients.push_back(parameter.grad());
  update.loss = sum.loss().item<double>();
  update.miss = sum.metrics().front().second.item<double>();
  update.weight = sum.weight();
  update.factor = sum.factor();
  update.samples = sum.samples();
  return update;
}

/// What rank `place.rank` computes and hears.
Update update_of(const dist::World& world, bool by_ranks) {
  ToyModel model({.batch_norm = false, .dropout = 0});
  model.initialize(Random(2));
  const auto parameters = engine::trainable_parameters(model.network());
  const engine::GradScaler scaler(at::kCPU, false);
  GradientAccumulation sum(model, scaler, at::kCPU, {});
  const ToyDataset data(kSamples, 0);
  const Shard shard{world.rank(), world.size(), kSamples, 2};
  const auto [from, to] = shard.range(shard.parts());
  if (world.is_alone()) {
    for (auto part = from; part < to; ++part) sum.add(part_of(data, part));
    return finished(parameters, sum);
  }
  RankSum ranks(world, parameters, {});
  ranks.choose_order(by_ranks ? std::int64_t{1} << 40 : 4);
  CHECK((ranks.order() == SumOrder::Ranks) == by_ranks);
  ranks.begin();
  const auto weight = from < to ? part_of(data, from).weight : 0;
  sum.set_first_weight(ranks.agree_on_weight(weight, to - from));
  for (auto part = from; part < to; ++part) ranks.add(sum, part_of(data, part));
  const auto news = ranks.share({{"rank", world.rank()}});
  for (int i = 0; i < world.size(); ++i) CHECK(news[i]["rank"] == i);
  ranks.reduce(sum, engine::StatisticsBackup({}));
  return finished(parameters, sum);
}

std::vector<Update> updates_of(int size, bool by_ranks) {
  std::vector<Update> updates(size);
  const auto errors = as_ranks(size, 60, [&](const dist::World& world) {
    updates[world.rank()] = update_of(world, by_ranks);
  });
  for (int rank = 0; rank < size; ++rank) updates[rank].error = errors[rank];
  return updates;
}

}  // namespace

TEST_CASE("rank sum: gradients and sums of one update have the bits of one process" *
          doctest::skip(!dist::has_gloo())) {
  const auto alone = update_of(dist::World(), false);
  for (int size = 2; size <= 4; ++size) {
    for (const auto& update : updates_of(size, false)) {
      REQUIRE(update.error == "");
      for (std::size_t i = 0; i < alone.gradients.size(); ++i) {
        // Parameters that nothing uses stay without a gradient.
        REQUIRE(update.gradients[i].defined() == alone.gradients[i].defined());
        if (!alone.gradients[i].defined()) continue;
        CHECK(at::equal(update.gradients[i], alone.gradients[i]));
      }
      CHECK(update.loss == alone.loss);
      CHECK(update.miss == alone.miss);
      CHECK(update.weight == alone.weight);
      CHECK(update.factor == alone.factor);
      CHECK(update.samples == kSamples);
    }
  }
}

TEST_CASE("rank sum: in the order of ranks the gradients are the same numbers on every rank" *
          doctest::skip(!dist::has_gloo())) {
  const auto alone = update_of(dist::World(), false);
  const auto updates = updates_of(3, true);
  for (const auto& update : updates) {
    REQUIRE(update.error == "");
    for (std::size_t i = 0; i < alone.gradients.size(); ++i) {
      if (!alone.gradients[i].defined()) continue;
      CHECK(at::allclose(update.gradients[i], alone.gradients[i], 1e-5, 1e-7));
      CHECK(at::equal(update.gradients[i], updates[0].gradients[i]));
    }
    CHECK(update.loss == alone.loss);
  }
}
