// SPDX-License-Identifier: Apache-2.0
// A two-layer network that learns a 3x3 filter from noise: the smallest model that the engine can
// plan, train, run and export.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include "ubique/engine/contract/model.h"

namespace ubique::toy {

struct ToyConfig {
  std::int64_t channels = 4;
};

class ToyNetwork final : public torch::nn::Module {
 public:
  explicit ToyNetwork(const ToyConfig& config);
  at::Tensor forward(const at::Tensor& x) const;  ///< (B, 1, H, W) to the same

  at::Tensor first, first_bias;  ///< (C, 1, 3, 3), (C)
  at::Tensor last, last_bias;    ///< (1, C, 1, 1), (1)
};

class ToyModel final : public engine::Model {
 public:
  explicit ToyModel(const ToyConfig& config) : config_(config), network_(config) {}

  std::string family() const override { return "toy"; }
  Json config() const override { return {{"channels", config_.channels}}; }
  torch::nn::Module& network() override { return network_; }
  void initialize(const Random& random) override;
  plan::Needs needs() const override;
  void apply_plan(const plan::Plan& /*plan*/) override {}
  engine::Step step(const engine::Batch& batch) override;

  ToyNetwork& toy() { return network_; }

 private:
  ToyConfig config_;
  ToyNetwork network_;
};

}  // namespace ubique::toy
