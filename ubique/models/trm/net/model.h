// SPDX-License-Identifier: Apache-2.0
// A Tiny Recursive Model as the engine sees it. One training step is one supervision step of every
// slot; puzzles that have not halted stay in their slots for the next update.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ubique/engine/contract/model.h"
#include "ubique/models/trm/net/network.h"
#include "ubique/models/trm/net/slots.h"

namespace ubique::trm {

/// Rows of the puzzle table that a step looked up: a leaf tensor, with gradients after backward.
struct LookedUp {
  at::Tensor ids;   ///< (B) i32
  at::Tensor rows;  ///< (B, ndim)
};

class TrmModel final : public engine::Model {
 public:
  explicit TrmModel(const TrmConfig& config) : network_(std::make_shared<Trm>(config)) {}

  std::string family() const override { return "trm"; }
  Json config() const override { return to_json(network_->config()); }
  torch::nn::Module& network() override { return *network_; }
  void initialize(const Random& random) override { trm::initialize(*network_, random); }
  plan::Needs needs() const override { return needs_of(network_->config()); }
  /// For training, also allocates one slot per sample of an update.
  void apply_plan(const plan::Plan& plan) override;
  /// Tensors "inputs" and "labels" (B, S), "puzzle_identifiers" (B) and "least_steps" (B), i32; the
  /// loss is a mean over samples. The batch uses the slots from batch.first on.
  engine::Step step(const engine::Batch& batch) override;

  engine::NamedTensors persistent_state() override;
  engine::NamedTensors extra_leaves() override;
  void gather_leaves(const dist::World& world) override;
  void commit_state(const at::Tensor& bad) override;
  void discard_state() override;

  Trm& trm() { return *network_; }
  std::int64_t micro_batch() const { return micro_batch_; }  ///< of the plan
  const TrmConfig& settings() const { return network_->config(); }
  /// Of the steps since the last commit_state(); empty without a table.
  const std::vector<LookedUp>& looked_up() const { return looked_up_; }

 private:
  LookedUp look_up(const at::Tensor& ids);

  struct Pending {
    std::int64_t first = 0;
    Slots after;
  };

  std::shared_ptr<Trm> network_;
  std::int64_t micro_batch_ = 1;
  std::optional<Slots> slots_;
  std::optional<TrmWeights> weights_;  // of the current update, cast once
  std::vector<Pending> pending_;
  std::vector<LookedUp> looked_up_;
};

/// The dtype to compute in: autocast's where it is enabled, else that of the weights.
at::ScalarType forward_dtype(Trm& network);

}  // namespace ubique::trm
