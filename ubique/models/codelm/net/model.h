// SPDX-License-Identifier: Apache-2.0
// A code language model as the engine sees it: trained whole, or through LoRA adapters over a
// frozen base, whose checkpoints then hold the adapters alone.
#pragma once

#include <filesystem>
#include <memory>

#include "ubique/engine/contract/model.h"
#include "ubique/models/codelm/net/adapters.h"
#include "ubique/models/codelm/net/network.h"

namespace ubique::codelm {

class CodelmModel final : public engine::Model, public engine::HasBlocks {
 public:
  explicit CodelmModel(std::shared_ptr<Codelm> network) : network_(std::move(network)) {}

  std::string family() const override { return "codelm"; }
  /// {"model": config.json} and, with adapters, {"adapter": options, "base": path}.
  Json config() const override;
  torch::nn::Module& network() override;
  void initialize(const Random& random) override;
  plan::Needs needs() const override;
  void apply_plan(const plan::Plan& plan) override;
  /// Tensors "ids", "labels", "positions" and, for packed rows, "documents" (B, T), i64, and
  /// "starts" (DocumentLayout); the loss is a mean over the labels that count, whose number is the
  /// batch's weight.
  engine::Step step(const engine::Batch& batch) override;
  std::vector<engine::NamedTensors> blocks() override;
  void set_block_weights(engine::BlockWeights* weights) override { pass_.split = weights; }

  /// From now on only adapters are trained; `base` is where the frozen weights come from.
  void add_adapters(AdapterOptions options, const std::filesystem::path& base);
  nn::LoraModule* adapters() { return adapters_.get(); }
  const AdapterOptions& adapter_options() const { return adapter_options_; }
  /// Keeps the frozen base of adapters in fewer bits: "nf4" (double quantised), "int8", "int4";
  /// empty = as it is.
  void quantize_base(const std::string& form);
  /// Adds the adapters to the weights; the model is a plain one afterwards.
  void merge_adapters(double weight = 1);

  Codelm& codelm() { return *network_; }
  const CodelmConfig& settings() const { return network_->config(); }
  /// The length of training sequences, for needs(); 0 = the model's context.
  void set_sequence_length(std::int64_t length) { sequence_length_ = length; }
  std::int64_t sequence_length() const;
  /// The training keeps averaged weights (EMA), for needs().
  void set_averaged(bool averaged) { averaged_ = averaged; }

 private:
  bool has_packed_attention(const plan::Plan& plan);

  std::shared_ptr<Codelm> network_;
  std::unique_ptr<nn::LoraModule> adapters_;
  AdapterOptions adapter_options_;
  std::filesystem::path base_;
  std::string base_weights_;
  std::int64_t sequence_length_ = 0;
  bool averaged_ = false;
  PassOptions pass_;
};

/// Summed loss and correct predictions of a batch on the device, for validation.
struct BatchLoss {
  at::Tensor sum, correct;
};
BatchLoss batch_loss(const Codelm& network, const engine::Batch& batch, const PassOptions& pass);

}  // namespace ubique::codelm
