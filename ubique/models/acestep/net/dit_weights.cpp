// SPDX-License-Identifier: Apache-2.0
// Names and shapes of the diffusion transformer's parameters.
#include <fmt/format.h>

#include "ubique/models/acestep/net/dit.h"

namespace ubique::acestep {
namespace {

constexpr std::int64_t kTimeSize = 256;

void walk_embedders(nn::ParameterWalk& walk, const DitConfig& config, DitWeights& weights) {
  const auto hidden = config.hidden();
  walk.linear("timestep_embedder.linear_1", hidden, kTimeSize, weights.time_1);
  walk.linear("timestep_embedder.linear_2", hidden, hidden, weights.time_2);
  walk.linear("t_block.1", 6 * hidden, hidden, weights.time_modulation);
  walk.linear("speaker_embedder", hidden, config.speaker_size, weights.speaker);
  walk.linear("genre_embedder", hidden, config.text_size, weights.text);
  walk.tensor("lyric_embs.weight", {config.lyric.vocabulary, config.lyric.hidden},
              weights.lyric_tokens);
  walk_lyric(walk, "lyric_encoder", config.lyric, weights.lyric);
  walk.linear("lyric_proj", hidden, config.lyric.hidden, weights.lyric_output);
}

void walk_projectors(nn::ParameterWalk& walk, const DitConfig& config, DitWeights& weights) {
  if (!config.projectors) return;
  const auto hidden = config.hidden();
  weights.projectors.resize(config.ssl_sizes.size());
  for (std::size_t i = 0; i < weights.projectors.size(); ++i) {
    auto& layers = weights.projectors[i];
    walk.linear(fmt::format("projectors.{}.0", i), 2 * hidden, hidden, layers[0]);
    walk.linear(fmt::format("projectors.{}.2", i), 2 * hidden, 2 * hidden, layers[1]);
    walk.linear(fmt::format("projectors.{}.4", i), config.ssl_sizes[i], 2 * hidden, layers[2]);
  }
}

void walk_ends(nn::ParameterWalk& walk, const DitConfig& config, DitWeights& weights) {
  const auto hidden = config.hidden(), between = config.patch_channels();
  const std::string name = "proj_in.early_conv_layers.";
  walk.weights(name + "0", {between, config.in_channels, config.patch_height, 1}, weights.patch);
  walk.weights(name + "1", {between}, weights.patch_norm);
  walk.weights(name + "2", {hidden, between, 1, 1}, weights.patch_output);
  walk.tensor("final_layer.scale_shift_table", {2, hidden}, weights.final_modulation);
  walk.linear("final_layer.linear", config.patch_height * config.out_channels, hidden,
              weights.final);
}

void walk_dit(nn::ParameterWalk& walk, const DitConfig& config, DitWeights& weights) {
  weights.blocks.resize(static_cast<std::size_t>(config.layers));
  for (std::size_t i = 0; i < weights.blocks.size(); ++i) {
    walk_block(walk, fmt::format("transformer_blocks.{}", i), config, weights.blocks[i]);
  }
  walk_embedders(walk, config, weights);
  walk_projectors(walk, config, weights);
  walk_ends(walk, config, weights);
}

}  // namespace

void Dit::visit(nn::ParameterWalk& walk) { walk_dit(walk, config_, weights_); }

nn::NamedShapes parameter_shapes(const DitConfig& config) {
  DitWeights none;
  nn::ParameterWalk walk;
  walk_dit(walk, config, none);
  return walk.shapes();
}

std::map<std::string, nn::LinearWeights*> Dit::heavy_layers() {
  std::map<std::string, nn::LinearWeights*> layers;
  for (const auto& [name, layer] : linear_layers()) {
    const bool heavy =
        name.starts_with("transformer_blocks.") || name.starts_with("lyric_encoder.");
    if (heavy) layers[name + ".weight"] = layer;
  }
  for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
    const auto feed_forward = fmt::format("transformer_blocks.{}.ff.", i);
    layers[feed_forward + "inverted_conv.conv.weight"] = &weights_.blocks[i].expand;
    layers[feed_forward + "point_conv.conv.weight"] = &weights_.blocks[i].contract;
  }
  return layers;
}

std::map<std::string, nn::LinearWeights*> Dit::quantizable_layers(kernels::QuantFormat format) {
  auto layers = heavy_layers();
  std::erase_if(layers, [&](const auto& item) {
    const auto& layer = *item.second;
    return layer.quantized || !kernels::is_quantizable(format, layer.outputs(), layer.inputs());
  });
  return layers;
}

void Dit::quantize(kernels::QuantFormat format, bool double_quantized) {
  for (const auto& [name, layer] : quantizable_layers(format)) {
    nn::quantize(*layer, format, double_quantized);
  }
}

void Dit::move_quantized(c10::Device device) {
  for (const auto& [name, layer] : linear_layers()) nn::move_quantized(*layer, device);
  for (auto& block : weights_.blocks) {
    nn::move_quantized(block.expand, device);
    nn::move_quantized(block.contract, device);
  }
}

std::int64_t quantized_values(const DitConfig& config, kernels::QuantFormat format) {
  Dit nowhere(config, at::TensorOptions(at::kMeta));
  std::int64_t count = 0;
  for (const auto& [name, layer] : nowhere.quantizable_layers(format)) {
    count += layer->outputs() * layer->inputs();
  }
  return count;
}

nn::NamedShapes unused_shapes(const DitConfig& config) {
  const auto hidden = config.hidden();
  nn::NamedShapes shapes;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    for (const auto* part : {"add_k_proj", "add_v_proj", "add_q_proj", "to_add_out"}) {
      const auto name = fmt::format("transformer_blocks.{}.cross_attn.{}", i, part);
      shapes.push_back({name + ".weight", {hidden, hidden}});
      shapes.push_back({name + ".bias", {hidden}});
    }
  }
  if (!config.projectors) {
    auto with = config;
    with.projectors = true;
    DitWeights none;
    nn::ParameterWalk walk;
    walk_projectors(walk, with, none);
    shapes.insert(shapes.end(), walk.shapes().begin(), walk.shapes().end());
  }
  return shapes;
}

}  // namespace ubique::acestep
