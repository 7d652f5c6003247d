// SPDX-License-Identifier: Apache-2.0
// Optimizers whose states are split among ranks that are threads here: weights and states have the
// bits of one process.
#include "ubique/engine/ranks/sharded_optimizer.h"

#include <ATen/ATen.h>

#include <map>

#include "tests/dist/as_ranks.h"
#include "ubique/base/error.h"
#include "ubique/engine/optim/optimizer.h"

using namespace ubique;
using namespace ubique::test;
using dist::World;
using engine::NamedTensors, engine::Optimizer, engine::OptimizerOptions, engine::ShardGroup,
    engine::ShardedOptimizer;

namespace {

const doctest::skip kShardsNeedGloo(!dist::has_gloo());

constexpr int kUpdates = 3;

/// Sizes that no number of ranks divides, a layout that is not the usual one, a parameter that
/// never gets a gradient.
NamedTensors shard_parameters() {
  at::Generator generator = at::detail::createCPUGenerator(7);
  const auto random = [&](std::vector<std::int64_t> shape) {
    return at::randn(shape, generator).requires_grad_();
  };
  auto filters = at::randn({5, 8, 3, 3}, generator).contiguous(at::MemoryFormat::ChannelsLast);
  return {{"embedding", random({131, 17})},
          {"bias", random({41})},
          {"filters", filters.requires_grad_()},
          {"unused", random({70})},
          {"head.bias", random({900})}};
}

void set_gradients(const NamedTensors& parameters, int update) {
  at::Generator generator = at::detail::createCPUGenerator(100 + update);
  for (const auto& [name, parameter] : parameters) {
    const auto gradient = at::randn(parameter.sizes(), generator);
    if (name == "unused") continue;
    parameter.mutable_grad() = at::empty_like(parameter.detach()).copy_(gradient);
  }
}

void make_updates(Optimizer& optimizer, const NamedTensors& parameters, int from, int to) {
  for (int update = from; update < to; ++update) {
    set_gradients(parameters, update);
    optimizer.prepare({.lr = 0.01 * (update + 1), .momentum = std::nullopt});
    optimizer.step(at::full({}, update == 1 ? 1.0F : 0.0F));  // the second one is skipped
    optimizer.zero_grad();
  }
}

ShardedOptimizer::Make making(const OptimizerOptions& options, bool fused) {
  return [=](NamedTensors slices) {
    return engine::make_optimizer(options, std::move(slices), fused);
  };
}

void check_same(const NamedTensors& some, const NamedTensors& expected) {
  const std::map<std::string, at::Tensor> found(some.begin(), some.end());
  check(found.size() == expected.size(), ErrorKind::Internal, "[test] {} tensors, not {}",
        found.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    check(found.contains(name) && at::equal(found.at(name), tensor), ErrorKind::Internal,
          "[test] another {}", name);
  }
}

struct Reference {
  NamedTensors weights, state;
};

Reference by_one_process(const OptimizerOptions& options, bool fused) {
  const auto parameters = shard_parameters();
  const auto optimizer = engine::make_optimizer(options, parameters, fused);
  make_updates(*optimizer, parameters, 0, kUpdates);
  return {parameters, optimizer->state()};
}

OptimizerOptions named(const std::string& name) {
  OptimizerOptions options;
  options.name = name;
  options.weight_decay = name == "adam_tf1" ? 0 : 0.1;
  options.decay_matrices_only = true;
  return options;
}

}  // namespace

TEST_CASE("shard group: shares are equal, cover every number once, and start on whole lines") {
  const auto parameters = shard_parameters();
  for (const int ranks : {1, 2, 3, 7}) {
    const ShardGroup group(parameters, ranks);
    std::vector<std::int64_t> covered(parameters.size());
    for (int rank = 0; rank < ranks; ++rank) {
      for (const auto& slice : group.slices(rank)) {
        CHECK(slice.from == covered[slice.tensor]);
        CHECK(slice.from % 64 == 0);
        CHECK(slice.at + slice.count <= group.share());
        covered[slice.tensor] += slice.count;
      }
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      CHECK(covered[i] == parameters[i].second.numel());
    }
  }
}

TEST_CASE("shard group: what is cut into shares is joined again, in its own layout") {
  const auto parameters = shard_parameters();
  std::vector<at::Tensor> whole;
  for (const auto& [name, tensor] : parameters) whole.push_back(tensor.detach());
  const ShardGroup group(parameters, 3);
  std::vector<at::Tensor> rows;
  for (int rank = 0; rank < 3; ++rank) {
    std::vector<at::Tensor> slices;
    for (const auto& [name, view] : group.views(whole, rank)) slices.push_back(view);
    rows.push_back(group.pack(slices, rank));
    const auto unpacked = group.unpack(rows.back(), rank);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      CHECK(at::equal(unpacked[i].second, slices[i]));
    }
  }
  const auto joined = group.join(at::cat(rows));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(at::equal(joined[i], whole[i]));
    CHECK(joined[i].strides() == whole[i].strides());
  }
}

TEST_CASE("sharded optimizer: weights and states have the bits of one process" * kShardsNeedGloo) {
  for (const bool fused : {true, false}) {
    for (const char* name : {"adamw", "adam_tf1", "adam_atan2", "sgd"}) {
      CAPTURE(name);
      const auto expected = by_one_process(named(name), fused);
      for (const int size : {2, 3}) {
        check_all_well(as_ranks(size, 60, [&](World& world) {
          const auto parameters = shard_parameters();
          ShardedOptimizer optimizer(world, parameters, {}, making(named(name), fused));
          make_updates(optimizer, parameters, 0, kUpdates);
          check_same(parameters, expected.weights);
          optimizer.collect_state();
          if (world.is_first()) check_same(optimizer.state(), expected.state);
        }));
      }
    }
  }
}

TEST_CASE("sharded optimizer: a state goes on in any number of processes" * kShardsNeedGloo) {
  const auto options = named("adamw");
  const auto expected = by_one_process(options, true);
  NamedTensors state, weights;
  const auto keep = [](const NamedTensors& tensors) {
    NamedTensors copies;
    for (const auto& [name, tensor] : tensors) copies.emplace_back(name, tensor.detach().clone());
    return copies;
  };
  check_all_well(as_ranks(3, 60, [&](World& world) {
    const auto parameters = shard_parameters();
    ShardedOptimizer optimizer(world, parameters, {}, making(options, true));
    make_updates(optimizer, parameters, 0, 1);
    optimizer.collect_state();
    if (!world.is_first()) return;
    state = keep(optimizer.state());
    weights = keep(parameters);
  }));
  const auto resumed = [&] {
    const at::NoGradGuard no_gradients;
    auto parameters = shard_parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].second.copy_(weights[i].second);
    }
    return parameters;
  };
  check_all_well(as_ranks(2, 60, [&](World& world) {
    const auto parameters = resumed();
    ShardedOptimizer optimizer(world, parameters, {}, making(options, true));
    optimizer.load(state);
    make_updates(optimizer, parameters, 1, kUpdates);
    check_same(parameters, expected.weights);
  }));
  const auto parameters = resumed();
  const auto alone = engine::make_optimizer(options, parameters, true);
  alone->load(state);
  make_updates(*alone, parameters, 1, kUpdates);
  check_same(parameters, expected.weights);
}

TEST_CASE("sharded optimizer: a state of other shapes and a network that is too small are refused" *
          kShardsNeedGloo) {
  check_all_well(as_ranks(2, 60, [&](World& world) {
    const auto parameters = shard_parameters();
    ShardedOptimizer optimizer(world, parameters, {}, making(named("adamw"), true));
    optimizer.collect_state();
    auto state = optimizer.state();
    for (auto& [name, tensor] : state) {
      if (name == "exp_avg.embedding") tensor = tensor.narrow(0, 0, 130);
    }
    if (world.is_first()) {
      CHECK_THROWS_WITH_AS(optimizer.load(state), doctest::Contains("exp_avg.embedding"), Error);
    }
  }));
  const auto errors = as_ranks(2, 60, [&](World& world) {
    const NamedTensors few = {{"bias", at::zeros({3}).requires_grad_()}};
    ShardedOptimizer optimizer(world, few, {}, making(named("adamw"), true));
  });
  CHECK(errors[0] == "");
  CHECK(errors[1].find("too small to be split") != std::string::npos);
}
