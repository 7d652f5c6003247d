// SPDX-License-Identifier: Apache-2.0
// An optimizer whose states are split among the ranks (ZeRO stage 1): each rank updates its slices
// of the parameters and tells the others. Every number changes as without splitting, so weights and
// checkpoints have the same bits.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ubique/dist/world.h"
#include "ubique/engine/contract/optimizer.h"
#include "ubique/engine/ranks/shard_group.h"

namespace ubique::engine {

/// Parameters of which each rank has its slices only (sharded_weights.h), on this rank.
struct OwnSlices {
  ShardGroup group;
  NamedTensors slices;
};

class ShardedOptimizer final : public Optimizer {
 public:
  /// Makes the optimizer of these slices.
  using Make = std::function<std::unique_ptr<Optimizer>(NamedTensors slices)>;

  /// All ranks, which have all of `whole`. Usage error if a rank would have nothing to update.
  ShardedOptimizer(const dist::World& world, NamedTensors whole, std::vector<OwnSlices> own,
                   const Make& make);

  void prepare(const Rates& rates) override { inner_->prepare(rates); }
  /// All ranks, with the same whole gradients, and each with the gradients of its own slices.
  void step(const at::Tensor& bad) override;
  bool capturable() const override { return false; }
  /// All ranks, before rank 0 asks for state().
  void collect_state() override;
  NamedTensors state() const override;
  void load(const NamedTensors& state) override;

 private:
  struct Part {
    ShardGroup group;
    std::vector<at::Tensor> whole;   // empty: each rank has its slices only
    std::vector<at::Tensor> slices;  // of this rank
  };

  static NamedTensors all_parameters(NamedTensors whole, const std::vector<OwnSlices>& own);
  void share_weights(const Part& part) const;
  std::vector<std::string> kinds() const;

  const dist::World& world_;
  std::unique_ptr<dist::Transport> transport_;
  std::vector<Part> parts_;
  std::unique_ptr<Optimizer> inner_;
  NamedTensors collected_;  // the whole state on rank 0, until the next step
};

}  // namespace ubique::engine
