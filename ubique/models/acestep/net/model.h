// SPDX-License-Identifier: Apache-2.0
// The transformer as the engine sees it: trained whole, with or without the text encoder, or
// through LoRA adapters over frozen weights, whose checkpoints then hold the adapters alone. The
// other networks stay in the folder of the model that it began with.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "ubique/engine/contract/model.h"
#include "ubique/models/acestep/net/adapter.h"
#include "ubique/models/acestep/net/dit.h"
#include "ubique/models/acestep/net/song_loss.h"
#include "ubique/models/acestep/net/umt5.h"

namespace ubique::acestep {

/// Of the longest sample, for needs().
struct SampleSize {
  std::int64_t frames = 645;   ///< a minute
  std::int64_t context = 300;  ///< tokens
  std::int64_t effective_batch = 1;
  bool averaged = false;  ///< EMA
  bool features = false;  ///< losses towards audio encoders, whose lengths the host must read
};

class AcestepModel final : public engine::Model, public engine::HasBlocks {
 public:
  /// `base` is the folder of the whole model; empty for a new transformer.
  explicit AcestepModel(std::shared_ptr<Dit> network, std::filesystem::path base = {})
      : network_(std::move(network)), base_(std::move(base)) {}

  std::string family() const override { return "acestep"; }
  /// {"model": config.json of the transformer, "base": folder of the other parts} and, where they
  /// are trained, {"adapter": options, "text": config.json of the text encoder}.
  Json config() const override;
  torch::nn::Module& network() override;
  void initialize(const Random& random) override;
  plan::Needs needs() const override;
  void apply_plan(const plan::Plan& plan) override;
  /// The batch of song_loss(); without a text encoder an Internal error.
  engine::Step step(const engine::Batch& batch) override;
  std::vector<engine::NamedTensors> blocks() override;
  std::vector<at::Tensor> tables() const override;
  void set_block_weights(engine::BlockWeights* weights) override { loss_.split = weights; }

  /// From now on only adapters are trained.
  void add_adapter(const AdapterOptions& options);
  nn::LoraModule* adapter() { return adapter_.get(); }
  const AdapterOptions& adapter_options() const { return adapter_options_; }
  /// Adds the adapter to the weights; the model is a plain one afterwards.
  void merge_adapter(double weight = 1);
  /// Keeps the frozen weights under adapters in fewer bits: "nf4", "int8", "int4"; empty = as they
  /// are.
  void quantize_base(const std::string& form);

  /// What training encodes tags with; `trained` together with the transformer, or frozen.
  void set_text_encoder(std::shared_ptr<Umt5> text_encoder, bool trained);
  const std::shared_ptr<Umt5>& text_encoder() const { return text_encoder_; }
  bool trains_text() const { return joined_ != nullptr; }

  Dit& dit() { return *network_; }
  const std::shared_ptr<Dit>& shared_dit() const { return network_; }
  const std::filesystem::path& base() const { return base_; }
  SongLossOptions& loss_options() { return loss_; }
  void set_sample_size(const SampleSize& size) { size_ = size; }

 private:
  std::shared_ptr<Dit> network_;
  std::filesystem::path base_;
  std::unique_ptr<nn::LoraModule> adapter_;
  AdapterOptions adapter_options_;
  std::string base_weights_;
  std::shared_ptr<Umt5> text_encoder_;
  std::unique_ptr<torch::nn::Module> joined_;  // parameters of transformer and text encoder
  SongLossOptions loss_;
  SampleSize size_;
};

/// Before the names of the text encoder's tensors in checkpoints of both.
inline constexpr const char* kTextPrefix = "text_encoder.";

}  // namespace ubique::acestep
