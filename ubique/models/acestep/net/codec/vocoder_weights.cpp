// SPDX-License-Identifier: Apache-2.0
// Names and shapes of the vocoder's parameters, folded and as files have them.
#include <fmt/format.h>

#include "ubique/models/acestep/net/codec/vocoder.h"

namespace ubique::acestep {
namespace {

void walk_stage(nn::ParameterWalk& walk, const VocoderConfig& config, std::size_t index,
                ConvNextStage& stage) {
  const auto channels = config.dims[index];
  const auto name = fmt::format("backbone.channel_layers.{}.", index);
  if (index == 0) {
    walk.weights(name + "0", {channels, config.mels, config.kernel}, stage.conv);
    walk.weights(name + "1", {channels}, stage.norm);
  } else {
    const auto before = config.dims[index - 1];
    walk.weights(name + "0", {before}, stage.norm);
    walk.weights(name + "1", {channels, before, 1}, stage.conv);
  }
  stage.blocks.resize(static_cast<std::size_t>(config.depths[index]));
  for (std::size_t i = 0; i < stage.blocks.size(); ++i) {
    auto& block = stage.blocks[i];
    const auto part = fmt::format("backbone.stages.{}.{}.", index, i);
    walk.tensor(part + "gamma", {channels}, block.gamma);
    walk.weights(part + "dwconv", {channels, 1, config.kernel}, block.depthwise);
    walk.weights(part + "norm", {channels}, block.norm);
    walk.linear(part + "pwconv1", 4 * channels, channels, block.expand);
    walk.linear(part + "pwconv2", channels, 4 * channels, block.contract);
  }
}

void walk_dilated(nn::ParameterWalk& walk, const std::string& name, std::int64_t channels,
                  std::int64_t kernel, std::size_t count, DilatedBlock& block) {
  block.first.resize(count);
  block.second.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    walk.weights(fmt::format("{}.convs1.{}", name, i), {channels, channels, kernel},
                 block.first[i]);
    walk.weights(fmt::format("{}.convs2.{}", name, i), {channels, channels, kernel},
                 block.second[i]);
  }
}

void walk_head(nn::ParameterWalk& walk, const VocoderConfig& config, VocoderWeights& weights) {
  const auto stages = config.upsample_rates.size(), kernels = config.resblock_kernels.size();
  weights.upsamplers.resize(stages);
  weights.blocks.resize(stages * kernels);
  walk.weights("head.conv_pre", {config.initial_channels, config.dims.back(), config.pre_kernel},
               weights.input);
  auto before = config.initial_channels;
  for (std::size_t i = 0; i < stages; ++i) {
    const auto channels = config.channels_after(i);
    auto& upsampler = weights.upsamplers[i];
    const auto name = fmt::format("head.ups.{}", i);
    walk.tensor(name + ".weight", {before, channels, config.upsample_kernels[i]}, upsampler.weight);
    walk.tensor(name + ".bias", {channels}, upsampler.bias);
    for (std::size_t j = 0; j < kernels; ++j) {
      const auto block = i * kernels + j;
      walk_dilated(walk, fmt::format("head.resblocks.{}", block), channels,
                   config.resblock_kernels[j], config.resblock_dilations[j].size(),
                   weights.blocks[block]);
    }
    before = channels;
  }
  walk.weights("head.conv_post", {1, before, config.post_kernel}, weights.output);
}

void walk_vocoder(nn::ParameterWalk& walk, const VocoderConfig& config, VocoderWeights& weights) {
  weights.stages.resize(config.dims.size());
  for (std::size_t i = 0; i < weights.stages.size(); ++i) {
    walk_stage(walk, config, i, weights.stages[i]);
  }
  walk.weights("backbone.norm", {config.dims.back()}, weights.backbone_norm);
  walk_head(walk, config, weights);
}

}  // namespace

void Vocoder::visit(nn::ParameterWalk& walk) { walk_vocoder(walk, config_, weights_); }

nn::NamedShapes parameter_shapes(const VocoderConfig& config) {
  VocoderWeights none;
  nn::ParameterWalk walk;
  walk_vocoder(walk, config, none);
  return walk.shapes();
}

nn::NamedShapes file_shapes(const VocoderConfig& config) {
  nn::NamedShapes shapes;
  for (const auto& [name, shape] : parameter_shapes(config)) {
    const bool normed = name.starts_with("head.") && name.ends_with(".weight");
    if (normed) {
      shapes.push_back({name + "_g", {shape[0], 1, 1}});
      shapes.push_back({name + "_v", shape});
    } else {
      shapes.push_back({name, shape});
    }
  }
  return shapes;
}

nn::NamedShapes unused_shapes(const VocoderConfig& config) {
  return {{"mel_transform.spectrogram.window", {config.fft}},
          {"mel_transform.mel_scale.fb", {config.fft / 2 + 1, config.mels}}};
}

}  // namespace ubique::acestep
