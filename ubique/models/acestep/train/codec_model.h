// SPDX-License-Identifier: Apache-2.0
// The autoencoder and the vocoder as the engine trains them, each alone.
#pragma once

#include <memory>
#include <string>

#include "ubique/engine/contract/model.h"
#include "ubique/models/acestep/net/codec/dcae.h"
#include "ubique/models/acestep/net/codec/vocoder.h"
#include "ubique/models/acestep/train/codec_loss.h"

namespace ubique::acestep {

/// The key `part` of a checkpoint's configuration.
inline constexpr const char* kDcaePart = "dcae";
inline constexpr const char* kVocoderPart = "vocoder";

/// Trains on batches of "log_mel" (B, 2, 128, 8·T) and "noise" (B, 8, 16, T).
class DcaeModel final : public engine::Model {
 public:
  explicit DcaeModel(std::shared_ptr<Dcae> network) : network_(std::move(network)) {}

  std::string family() const override { return "acestep"; }
  Json config() const override;
  torch::nn::Module& network() override { return *network_; }
  void initialize(const Random& random) override;
  plan::Needs needs() const override;
  void apply_plan(const plan::Plan& plan) override;
  engine::Step step(const engine::Batch& batch) override;

  Dcae& dcae() { return *network_; }
  void set_loss(const DcaeLossOptions& options) { options_ = options; }
  void set_crop(std::int64_t frames) { crop_ = frames; }  ///< mel frames of a sample

 private:
  std::shared_ptr<Dcae> network_;
  DcaeLossOptions options_;
  std::int64_t crop_ = 64;
};

/// Trains on batches of "log_mel" (B, 128, F) and "sound" (B, 512·F).
class VocoderModel final : public engine::Model {
 public:
  explicit VocoderModel(std::shared_ptr<Vocoder> network) : network_(std::move(network)) {}

  std::string family() const override { return "acestep"; }
  Json config() const override;
  torch::nn::Module& network() override { return *network_; }
  void initialize(const Random& random) override;
  plan::Needs needs() const override;
  void apply_plan(const plan::Plan& plan) override;
  engine::Step step(const engine::Batch& batch) override;

  Vocoder& vocoder() { return *network_; }
  void set_loss(const SoundLossOptions& options) { options_ = options; }
  void set_crop(std::int64_t frames) { crop_ = frames; }
  const SoundDistance& distance() const { return distance_; }

 private:
  std::shared_ptr<Vocoder> network_;
  SoundLossOptions options_;
  SoundDistance distance_;
  std::int64_t crop_ = 32;
};

/// Is this a checkpoint's configuration of one of them?
bool is_codec_config(const Json& config);
/// The model that it describes, not yet with its weights. Input error if it contradicts them.
std::unique_ptr<engine::Model> build_codec(const Json& config, const engine::NamedTensors& weights);

}  // namespace ubique::acestep
