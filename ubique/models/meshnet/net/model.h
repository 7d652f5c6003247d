// SPDX-License-Identifier: Apache-2.0
// A MeshNet as the engine sees it: network, loss and needs.
#pragma once

#include <memory>

#include "ubique/engine/contract/model.h"
#include "ubique/engine/ranks/pass_sums.h"
#include "ubique/models/meshnet/net/loss.h"
#include "ubique/models/meshnet/net/network.h"
#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

class MeshNetModel final : public engine::Model, public engine::UsesPassSums {
 public:
  explicit MeshNetModel(const MeshNetConfig& config);
  explicit MeshNetModel(const MeshNetFile& file);  ///< with its weights

  std::string family() const override { return "meshnet"; }
  Json config() const override { return to_json(network_->config()); }
  torch::nn::Module& network() override { return *network_; }
  void initialize(const Random& random) override;
  plan::Needs needs() const override;
  void apply_plan(const plan::Plan& plan) override;
  engine::Step step(const engine::Batch& batch) override;

  bool wants_pass_sums() const override { return sync_batch_norm_; }
  void set_pass_sums(engine::PassSums* sums) override;
  /// Batch norm over what all ranks compute at once. Nothing else for one process.
  void set_sync_batch_norm(bool on) { sync_batch_norm_ = on && settings().norm == Norm::Batch; }

  MeshNet& meshnet() { return *network_; }
  const MeshNetConfig& settings() const { return network_->config(); }
  void set_loss(LossOptions loss) { loss_ = std::move(loss); }
  const LossOptions& loss() const { return loss_; }
  /// A copy of the current config and weights, on the host.
  MeshNetFile file() const;
  c10::Device device() const;

 private:
  std::shared_ptr<MeshNet> network_;
  LossOptions loss_;
  bool sync_batch_norm_ = false;
};

}  // namespace ubique::meshnet
