// SPDX-License-Identifier: Apache-2.0
// Weights of blocks that are split among ranks, which are threads here: the gradients of the slices
// are those of whole weights.
#include "ubique/engine/ranks/sharded_weights.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/dist/as_ranks.h"
#include "ubique/base/error.h"
#include "ubique/engine/step/nonfinite.h"
#include "ubique/engine/step/recompute.h"

using namespace ubique;
using namespace ubique::test;
using dist::World;
using engine::NamedTensors, engine::ShardedWeights;

namespace {

const doctest::skip kSplitNeedsGloo(!dist::has_gloo());

constexpr std::int64_t kWidth = 19;

/// tanh(x·Wᵀ·scale + b) in each block; the scales are frozen and f64.
class Chain final : public engine::HasBlocks {
 public:
  explicit Chain(int blocks) {
    at::Generator generator = at::detail::createCPUGenerator(3);
    for (int i = 0; i < blocks; ++i) {
      const auto name = "block." + std::to_string(i);
      parameters_.push_back(
          {{name + ".weight", at::randn({kWidth, kWidth}, generator).div_(4).requires_grad_()},
           {name + ".bias", at::randn({kWidth}, generator).requires_grad_()},
           {name + ".scale", at::rand({kWidth}, generator, at::kDouble)}});
    }
  }
  std::vector<NamedTensors> blocks() override { return parameters_; }
  void set_block_weights(engine::BlockWeights* weights) override { split_ = weights; }

  /// `stop_at`: the block whose computation fails in the backward pass.
  at::Tensor forward(at::Tensor x, int stop_at = -1) const {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const auto block = [this, i, stop_at](const std::vector<at::Tensor>& in) {
        check(!engine::recomputing() || static_cast<int>(i) != stop_at, ErrorKind::Device,
              "[test] stopped");
        const auto& w = parameters_[i];
        return at::tanh(at::linear(in[0], w[0].second) * w[2].second.to(at::kFloat) + w[1].second);
      };
      const auto hold = [this, i] { return split_->hold(i); };
      x = engine::recompute(block, {x}, split_ != nullptr ? hold : engine::Hold());
    }
    return x;
  }

  NamedTensors trained() const {
    NamedTensors all;
    for (const auto& block : parameters_) all.insert(all.end(), block.begin(), block.begin() + 2);
    return all;
  }

 private:
  std::vector<NamedTensors> parameters_;
  engine::BlockWeights* split_ = nullptr;
};

at::Tensor input_of(int micro_batch) {
  at::Generator generator = at::detail::createCPUGenerator(50 + micro_batch);
  return at::randn({4, kWidth}, generator);
}

void pass(const Chain& chain, int micro_batch, int stop_at = -1) {
  torch::autograd::backward({chain.forward(input_of(micro_batch), stop_at).square().sum()},
                            {at::Tensor()});
}

void check_close(const at::Tensor& got, const at::Tensor& expected, const std::string& name) {
  const bool close = got.sizes() == expected.sizes() && at::allclose(got, expected, 1e-5, 1e-6);
  check(close, ErrorKind::Internal, "[test] another {}", name);
}

/// Micro-batches 0, 1, ... in the order of ranks, so many on each.
void check_gradients(World& world, int blocks, const std::vector<std::int64_t>& counts) {
  const Chain whole(blocks);
  int all = 0;
  for (const auto count : counts) all += static_cast<int>(count);
  for (int i = 0; i < all; ++i) pass(whole, i);
  NamedTensors gradients;
  for (const auto& [name, parameter] : whole.trained())
    gradients.emplace_back(name, parameter.grad());

  Chain chain(blocks);
  ShardedWeights weights(world, chain, at::kCPU);
  std::int64_t first = 0, rounds = 0;
  for (int i = 0; i < world.rank(); ++i) first += counts[i];
  for (const auto count : counts) rounds = std::max(rounds, count);
  for (int update = 0; update < 2; ++update) {
    weights.begin(counts);
    for (std::int64_t round = 0; round < rounds; ++round) {
      weights.begin_round();
      if (round < counts[world.rank()]) pass(chain, static_cast<int>(first + round));
      weights.end_round();
    }
    weights.finish();
    const auto expected = weights.sliced(gradients);
    const std::map<std::string, at::Tensor> found(expected.begin(), expected.end());
    for (const auto& own : weights.own_slices()) {
      for (const auto& [name, slice] : own.slices) {
        check_close(slice.grad(), found.at(name), name);
      }
    }
    const auto norm = weights.norm_with(at::full({}, 3.0F)).item<double>();
    const auto of_blocks = engine::gradient_norm(whole.trained()).item<double>();
    check(std::abs(norm - std::hypot(3.0, of_blocks)) < 1e-4 * norm, ErrorKind::Internal,
          "[test] another norm: {}", norm);
  }
}

}  // namespace

TEST_CASE("sharded weights: gradients of slices are those of whole weights" * kSplitNeedsGloo) {
  const std::vector<std::vector<std::int64_t>> of_ranks = {{1, 1}, {3, 2}, {2, 1, 0}, {1, 1, 1}};
  for (const auto& counts : of_ranks) {
    for (const int blocks : {1, 2, 5}) {
      check_all_well(as_ranks(static_cast<int>(counts.size()), 60,
                              [&](World& world) { check_gradients(world, blocks, counts); }));
    }
  }
}

TEST_CASE("sharded weights: between passes a weight is NaN and takes no memory" * kSplitNeedsGloo) {
  check_all_well(as_ranks(2, 60, [](World& world) {
    Chain chain(3);
    const ShardedWeights weights(world, chain, at::kCPU);
    for (const auto& [name, parameter] : chain.trained()) {
      check(parameter.storage().nbytes() == static_cast<std::size_t>(parameter.element_size()) &&
                parameter.isnan().all().item<bool>(),
            ErrorKind::Internal, "[test] {} is there", name);
    }
  }));
}

TEST_CASE("sharded weights: whole ones for validation and checkpoints have the bits they had" *
          kSplitNeedsGloo) {
  const auto expected = Chain(3).trained();
  check_all_well(as_ranks(3, 60, [&](World& world) {
    Chain chain(3);
    ShardedWeights weights(world, chain, at::kCPU);
    weights.gather_all();
    const auto there = chain.trained();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      check(at::equal(there[i].second, expected[i].second), ErrorKind::Internal, "[test] gathered");
    }
    weights.release_all();
    const auto collected = weights.collect();
    check(collected.size() == (world.is_first() ? expected.size() : 0), ErrorKind::Internal,
          "[test] {} collected", collected.size());
    for (std::size_t i = 0; i < collected.size(); ++i) {
      check(collected[i].first == expected[i].first || i > 0, ErrorKind::Internal, "[test] names");
    }
  }));
}

TEST_CASE("sharded weights: a rank that fails in a pass keeps no other one waiting" *
          kSplitNeedsGloo) {
  check_all_well(as_ranks(2, 60, [](World& world) {
    Chain chain(4);
    ShardedWeights weights(world, chain, at::kCPU);
    for (int update = 0; update < 2; ++update) {  // the second one is whole again
      weights.begin({1, 1});
      weights.begin_round();
      const bool fails = update == 0 && world.rank() == 1;
      bool failed = false;
      try {
        pass(chain, world.rank(), fails ? 2 : -1);
      } catch (const std::exception&) {
        failed = true;
      }
      weights.end_round();
      check(failed == fails, ErrorKind::Internal, "[test] failed: {}", failed);
      fails || update == 0 ? weights.discard() : weights.finish();
    }
    const auto own = weights.own_slices();
    check(own.front().slices.front().second.grad().isfinite().all().item<bool>(),
          ErrorKind::Internal, "[test] gradients");
  }));
}
