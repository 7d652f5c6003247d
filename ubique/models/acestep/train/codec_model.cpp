// SPDX-License-Identifier: Apache-2.0
// Training steps of the autoencoder and the vocoder, and what they need of a machine.
#include "ubique/models/acestep/train/codec_model.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/acestep/net/config/config_json.h"
#include "ubique/models/acestep/net/init.h"

namespace ubique::acestep {
namespace {

constexpr const char* kCodecHeader = "the checkpoint's header";
constexpr std::int64_t kMelRows = 128;

Json codec_config(const char* part, const Json& model) {
  return {{"part", part}, {"model", model}};
}

/// Values kept for the backward pass, and products of a forward pass, of one sample.
struct CodecCost {
  std::int64_t kept = 0, largest = 0;
  double products = 0;
};

/// One convolution or block of convolutions: `positions` of `channels`, `tensors` of them kept.
void add_cost(CodecCost& cost, std::int64_t positions, std::int64_t channels, std::int64_t tensors,
              double products) {
  cost.kept += positions * channels * tensors;
  cost.largest = std::max(cost.largest, positions * channels);
  cost.products += static_cast<double>(positions) * products;
}

CodecCost dcae_cost(const DcaeConfig& config, std::int64_t frames) {
  CodecCost cost;
  for (const auto* side : {&config.encoder, &config.decoder}) {
    auto positions = kMelRows * frames;
    for (std::size_t i = 0; i < side->channels.size(); ++i, positions /= 4) {
      const auto c = side->channels[i];
      const auto wide = static_cast<double>(c * c);
      const std::int64_t tensors = side->attention[i] ? 40 : 7;
      add_cost(cost, positions, c, side->layers[i] * tensors,
               static_cast<double>(side->layers[i]) * (side->attention[i] ? 22 * wide : 18 * wide));
      add_cost(cost, positions, c, 4, 9 * wide);  // the step to the next level
    }
  }
  return cost;
}

CodecCost vocoder_cost(const VocoderConfig& config, std::int64_t frames) {
  CodecCost cost;
  for (std::size_t i = 0; i < config.dims.size(); ++i) {
    const auto c = config.dims[i];
    add_cost(cost, frames, c, 14 * config.depths[i], static_cast<double>(8 * c * c));
  }
  auto samples = frames;
  auto before = config.initial_channels;
  std::int64_t taps = 0, convolutions = 0;
  for (std::size_t k = 0; k < config.resblock_kernels.size(); ++k) {
    const auto count = 2 * static_cast<std::int64_t>(config.resblock_dilations[k].size());
    convolutions += count;
    taps += config.resblock_kernels[k] * count;
  }
  for (std::size_t i = 0; i < config.upsample_rates.size(); ++i) {
    const auto c = config.channels_after(i);
    samples *= config.upsample_rates[i];
    const auto up = before * c * config.upsample_kernels[i] / config.upsample_rates[i];
    add_cost(cost, samples, c, 3 * convolutions + 2, static_cast<double>(up + c * c * taps));
    before = c;
  }
  return cost;
}

plan::Needs codec_needs(const char* name, std::int64_t parameters, const CodecCost& cost,
                        std::int64_t samples) {
  plan::Needs needs;
  needs.name = name;
  needs.family = "acestep";
  needs.parameters = {{name, parameters, true, 0}};
  needs.activations.saved = cost.kept;
  needs.activations.loss = 20 * samples;  // spectra of several resolutions
  needs.activations.transient = 4 * cost.largest;
  needs.activations.run = 4 * cost.largest;
  needs.activations.largest = cost.largest;
  needs.flops_run = 2 * cost.products;
  needs.ops = {"matmul", "linear"};
  needs.optimizer = "adamw";
  needs.effective_batch = 8;
  return needs;
}

}  // namespace

Json DcaeModel::config() const { return codec_config(kDcaePart, config_json(network_->config())); }

void DcaeModel::initialize(const Random& random) { acestep::initialize(*network_, random); }

plan::Needs DcaeModel::needs() const {
  const auto& config = network_->config();
  auto needs = codec_needs("autoencoder", nn::count_values(parameter_shapes(config)),
                           dcae_cost(config, crop_), 2 * kMelRows * crop_);
  needs.inputs = {{"log_mel", {2, kMelRows, crop_}, DType::F32}};
  const auto finest = config.encoder.channels.front();
  needs.convs = {{2, finest, finest, 3, 1, crop_}};
  return needs;
}

void DcaeModel::apply_plan(const plan::Plan& /*plan*/) { network_->refresh(); }

engine::Step DcaeModel::step(const engine::Batch& batch) {
  const auto loss =
      dcae_loss(*network_, batch.tensors.at("log_mel"), batch.tensors.at("noise"), options_);
  engine::Step step{.loss = loss.total};
  step.metrics = {{"squared", loss.squared.detach()},
                  {"multiscale", loss.multiscale.detach()},
                  {"sides", loss.sides.detach()},
                  {"moments", loss.moments.detach()}};
  return step;
}

Json VocoderModel::config() const {
  return codec_config(kVocoderPart, config_json(network_->config()));
}

void VocoderModel::initialize(const Random& random) { acestep::initialize(*network_, random); }

plan::Needs VocoderModel::needs() const {
  const auto& config = network_->config();
  auto needs = codec_needs("vocoder", nn::count_values(parameter_shapes(config)),
                           vocoder_cost(config, crop_), crop_ * config.hop);
  needs.inputs = {{"log_mel", {config.mels, crop_}, DType::F32},
                  {"sound", {crop_ * config.hop}, DType::F32}};
  const auto last = config.channels_after(config.upsample_rates.size() - 1);
  needs.convs = {{1, last, last, config.resblock_kernels.back(), 1, crop_ * config.hop}};
  return needs;
}

void VocoderModel::apply_plan(const plan::Plan& /*plan*/) { network_->refresh(); }

engine::Step VocoderModel::step(const engine::Batch& batch) {
  const auto made = network_->forward(batch.tensors.at("log_mel")).squeeze(1).to(at::kFloat);
  const auto loss = distance_(made, batch.tensors.at("sound"), options_);
  engine::Step step{.loss = loss.total};
  step.metrics = {
      {"wave", loss.wave.detach()}, {"stft", loss.stft.detach()}, {"mel", loss.mel.detach()}};
  return step;
}

bool is_codec_config(const Json& config) {
  const auto part = config.find("part");
  return part != config.end() && (*part == kDcaePart || *part == kVocoderPart);
}

std::unique_ptr<engine::Model> build_codec(const Json& config,
                                           const engine::NamedTensors& weights) {
  const auto found = config.find("model");
  check(found != config.end() && found->is_object(), ErrorKind::Input,
        "[acestep.open] {} has no model; expected the network's configuration.", kCodecHeader);
  if (config.at("part") == kDcaePart) {
    const auto settings = parse_dcae_config(*found, kCodecHeader);
    engine::check_shapes(weights, parameter_shapes(settings), kCodecHeader);
    return std::make_unique<DcaeModel>(std::make_shared<Dcae>(settings));
  }
  const auto settings = parse_vocoder_config(*found, kCodecHeader);
  engine::check_shapes(weights, parameter_shapes(settings), kCodecHeader);
  return std::make_unique<VocoderModel>(std::make_shared<Vocoder>(settings));
}

}  // namespace ubique::acestep
