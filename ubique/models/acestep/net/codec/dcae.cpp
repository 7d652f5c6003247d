// SPDX-License-Identifier: Apache-2.0
// Encoder and decoder, and the names of their parameters.
#include "ubique/models/acestep/net/codec/dcae.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "ubique/base/error.h"

namespace ubique::acestep {
namespace {

LevelShape level_shape(const DcaeConfig& config, const DcaeSide& side, std::size_t level) {
  return {.name = "",
          .channels = side.channels[level],
          .layers = side.layers[level],
          .attention = side.attention[level],
          .multiscales = side.multiscales[level],
          .head_size = config.head_size};
}

void walk_encoder(nn::ParameterWalk& walk, const DcaeConfig& config, DcaeWeights::Side& weights) {
  const auto& side = config.encoder;
  weights.levels.resize(side.channels.size());
  walk.weights("encoder.conv_in", {side.channels[0], config.in_channels, 3, 3}, weights.input);
  for (std::size_t i = 0; i < weights.levels.size(); ++i) {
    auto shape = level_shape(config, side, i);
    shape.name = fmt::format("encoder.down_blocks.{}", i);
    if (i + 1 < weights.levels.size()) {
      shape.step_in = side.channels[i];
      shape.step_out = side.channels[i + 1];
    }
    walk_level(walk, shape, weights.levels[i]);
  }
  walk.weights("encoder.conv_out", {config.latent_channels, side.channels.back(), 3, 3},
               weights.output);
}

void walk_decoder(nn::ParameterWalk& walk, const DcaeConfig& config, DcaeWeights& weights) {
  const auto& side = config.decoder;
  auto& own = weights.decoder;
  own.levels.resize(side.channels.size());
  walk.weights("decoder.conv_in", {side.channels.back(), config.latent_channels, 3, 3}, own.input);
  for (std::size_t i = 0; i < own.levels.size(); ++i) {
    auto shape = level_shape(config, side, i);
    shape.name = fmt::format("decoder.up_blocks.{}", i);
    shape.place = StepPlace::First;
    if (i + 1 < own.levels.size()) {
      shape.step_in = side.channels[i + 1];
      shape.step_out = side.channels[i];
    }
    walk_level(walk, shape, own.levels[i]);
  }
  walk.weights("decoder.norm_out", {side.channels[0]}, weights.decoder_norm);
  walk.weights("decoder.conv_out", {config.in_channels, side.channels[0], 3, 3}, own.output);
}

void walk_dcae(nn::ParameterWalk& walk, const DcaeConfig& config, DcaeWeights& weights) {
  walk_encoder(walk, config, weights.encoder);
  walk_decoder(walk, config, weights);
}

/// In the weight's dtype.
at::Tensor end_conv(const at::Tensor& x, const nn::WeightAndBias& weights) {
  return at::conv2d(x.to(weights.weight.scalar_type()), weights.weight, weights.bias, 1, 1);
}

}  // namespace

Dcae::Dcae(const DcaeConfig& config, const at::TensorOptions& options) : config_(config) {
  create(options);
}

void Dcae::visit(nn::ParameterWalk& walk) { walk_dcae(walk, config_, weights_); }

nn::NamedShapes parameter_shapes(const DcaeConfig& config) {
  DcaeWeights none;
  nn::ParameterWalk walk;
  walk_dcae(walk, config, none);
  return walk.shapes();
}

void Dcae::use_channels_last() {
  const at::NoGradGuard no_gradients;
  for (auto& parameter : parameters()) {
    if (parameter.dim() == 4) {
      parameter.set_data(parameter.detach().contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
}

void Dcae::decode_in_half() {
  const at::NoGradGuard no_gradients;
  for (auto& item : named_parameters()) {
    const auto& name = item.key();
    const bool half = name.starts_with("decoder.") && !name.starts_with("decoder.conv_out.") &&
                      name.find("norm") == std::string::npos;
    if (half) item.value().set_data(item.value().detach().to(at::kHalf));
  }
}

std::int64_t Dcae::columns_per_latent() const {
  return std::int64_t{1} << (config_.encoder.channels.size() - 1);
}

LocalSteps Dcae::encoder_steps() const {
  const auto& weights = weights_.encoder;
  LocalSteps steps = {
      local_step(1, [&weights](const at::Tensor& x) { return end_conv(x, weights.input); })};
  for (const auto& level : weights.levels) {
    add_blocks(steps, level, config_.head_size);
    if (!level.step.weight.defined()) continue;
    auto down =
        local_step(2, [&step = level.step](const at::Tensor& x) { return step_down(step, x); });
    down.down = 2;
    steps.push_back(std::move(down));
  }
  const auto channels = config_.latent_channels;
  steps.push_back(local_step(1, [&weights, channels](const at::Tensor& x) {
    const auto shortcut = x.unflatten(1, {channels, -1}).mean(2);
    return end_conv(x, weights.output) + shortcut;
  }));
  return steps;
}

LocalSteps Dcae::decoder_steps() const {
  const auto& weights = weights_.decoder;
  const auto repeats = config_.decoder.channels.back() / config_.latent_channels;
  LocalSteps steps = {local_step(1, [&weights, repeats](const at::Tensor& x) {
    const auto y = end_conv(x, weights.input);
    return y + x.to(y.scalar_type()).repeat_interleave(repeats, 1);
  })};
  for (auto level = weights.levels.rbegin(); level != weights.levels.rend(); ++level) {
    if (level->step.weight.defined()) {
      auto up =
          local_step(1, [&step = level->step](const at::Tensor& x) { return step_up(step, x); });
      up.up = 2;
      steps.push_back(std::move(up));
    }
    add_blocks(steps, *level, config_.head_size);
  }
  steps.push_back(local_step(1, [this, &weights](const at::Tensor& x) {
    return end_conv(at::relu(channel_norm(x, weights_.decoder_norm)), weights.output);
  }));
  return steps;
}

at::Tensor Dcae::encode(const at::Tensor& spectrogram) const {
  const auto unit = columns_per_latent();
  check(spectrogram.size(2) % unit == 0 && spectrogram.size(3) % unit == 0, ErrorKind::Input,
        "[acestep.encode] a spectrogram of {} bands and {} frames; expected multiples of {}.",
        spectrogram.size(2), spectrogram.size(3), unit);
  return run_steps(encoder_steps(), spectrogram);
}

at::Tensor Dcae::decode(const at::Tensor& latents) const {
  return run_steps(decoder_steps(), latents);
}

}  // namespace ubique::acestep
