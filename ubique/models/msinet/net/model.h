// SPDX-License-Identifier: Apache-2.0
// An MSI-Net behind the engine's Model interface: network, loss, and resource needs for the plan.
#pragma once

#include <memory>

#include "ubique/engine/contract/model.h"
#include "ubique/models/msinet/net/network.h"
#include "ubique/models/msinet/net/weights.h"

namespace ubique::msinet {

class MsiNetModel final : public engine::Model {
 public:
  explicit MsiNetModel(const MsiNetConfig& config);
  /// With the file's weights; layers missing from an encoder-only file are initialised from
  /// `random`.
  explicit MsiNetModel(const MsiNetFile& file, const Random& random = Random(42));

  std::string family() const override { return "msinet"; }
  Json config() const override { return to_json(network_->config()); }
  torch::nn::Module& network() override { return *network_; }
  void initialize(const Random& random) override { msinet::initialize(*network_, random); }
  plan::Needs needs() const override;
  void apply_plan(const plan::Plan& plan) override;
  /// Tensors "image" (B, 3, H, W) and "map" (B, H, W), u8 or float; the loss is a mean over
  /// samples.
  engine::Step step(const engine::Batch& batch) override;

  MsiNet& msinet() { return *network_; }
  const MsiNetConfig& settings() const { return network_->config(); }
  /// The current config and weights, on the host.
  MsiNetFile file() const;
  c10::Device device() const;
  const std::string& backend() const { return backend_; }  ///< the plan's, after apply_plan()

 private:
  std::shared_ptr<MsiNet> network_;
  std::string backend_;
};

}  // namespace ubique::msinet
