// SPDX-License-Identifier: Apache-2.0
// A Tiny Recursive Model as the engine sees it.
#pragma once

#include <memory>

#include "ubique/engine/model.h"
#include "ubique/models/trm/network.h"
#include "ubique/models/trm/slots.h"

namespace ubique::trm {

class TrmModel final : public engine::Model {
 public:
  explicit TrmModel(const TrmConfig& config) : network_(std::make_shared<Trm>(config)) {}

  std::string family() const override { return "trm"; }
  Json config() const override { return to_json(network_->config()); }
  torch::nn::Module& network() override { return *network_; }
  void initialize(const Random& random) override { trm::initialize(*network_, random); }
  plan::Needs needs() const override { return needs_of(network_->config()); }
  void adopt(const plan::Plan& plan) override;
  /// Tensors "inputs" and "labels" (B, S), "puzzle_identifiers" (B) and "least_steps" (B), i32; the
  /// loss is a mean over samples.
  engine::Step step(const engine::Batch& batch) override;

  Trm& trm() { return *network_; }
  const TrmConfig& settings() const { return network_->config(); }

 private:
  std::shared_ptr<Trm> network_;
};

}  // namespace ubique::trm
