// SPDX-License-Identifier: Apache-2.0
// A Tiny Recursive Model as the engine sees it. One training step is one supervision step of every
// slot; puzzles that are not done stay in their slots for the next update, which is the carry.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ubique/engine/contract/model.h"
#include "ubique/models/trm/net/network.h"
#include "ubique/models/trm/net/slots.h"

namespace ubique::trm {

/// Rows of the puzzle table that a step looked up, as a leaf that has gradients after backward.
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
  /// For training, also makes one slot for every sample of an update.
  void apply_plan(const plan::Plan& plan) override;
  /// Tensors "inputs" and "labels" (B, S), "puzzle_identifiers" (B) and "least_steps" (B), i32; the
  /// loss is a mean over samples. They go to the slots from batch.first on.
  engine::Step step(const engine::Batch& batch) override;

  engine::NamedTensors persistent_state() override;
  engine::NamedTensors extra_leaves() override;
  void commit_state(const at::Tensor& bad) override;
  void discard_state() override;

  Trm& trm() { return *network_; }
  std::int64_t at_once() const { return at_once_; }  ///< samples, as the plan has it
  const TrmConfig& settings() const { return network_->config(); }
  /// By the steps since the last commit(); empty if there is no table.
  const std::vector<LookedUp>& looked_up() const { return looked_up_; }

 private:
  LookedUp look_up(const at::Tensor& ids);

  struct Pending {
    std::int64_t first = 0;
    Slots after;
  };

  std::shared_ptr<Trm> network_;
  std::int64_t at_once_ = 1;
  std::optional<Slots> slots_;
  std::optional<TrmWeights> weights_;  // of the update under way, cast once
  std::vector<Pending> pending_;
  std::vector<LookedUp> looked_up_;
};

/// What the network computes in now: autocast's dtype where that is on, else the weights' own.
at::ScalarType forward_dtype(Trm& network);

}  // namespace ubique::trm
