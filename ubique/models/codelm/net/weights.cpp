// SPDX-License-Identifier: Apache-2.0
// The walk, and what the configuration alone says of it: shapes and counts.
#include "ubique/models/codelm/net/weights.h"

#include <algorithm>

namespace ubique::codelm {
namespace {

/// Visits the parts of a network; those with an empty name do not exist.
class PartWalk {
 public:
  PartWalk(const CodelmConfig& config, nn::ParameterWalk& walk) : config_(config), walk_(walk) {}

  void linear(const std::string& name, std::int64_t out, std::int64_t in, nn::LinearWeights& place,
              bool bias) {
    if (!name.empty()) walk_.linear(name, out, in, place, bias);
  }
  void norm(const std::string& name, NormWeights& place) {
    if (!name.empty()) {
      walk_.weights(name, {config_.hidden}, place, config_.norm == NormKind::Layer);
    }
  }
  void tensor(const std::string& name, std::vector<std::int64_t> shape, at::Tensor& place) {
    if (!name.empty()) walk_.tensor(name + ".weight", std::move(shape), place);
  }

 private:
  const CodelmConfig& config_;
  nn::ParameterWalk& walk_;
};

void visit_layer(const CodelmConfig& config, const TensorNames& names, std::int64_t layer,
                 BlockWeights& block, nn::ParameterWalk& walk) {
  PartWalk parts(config, walk);
  const auto h = config.hidden;
  const auto queries = config.heads * config.head_size, keys = config.kv_heads * config.head_size;
  const auto part = [&](const std::string& name) { return layer_name(names, layer, name); };
  parts.norm(part(names.first_norm), block.first_norm);
  parts.linear(part(names.qkv), queries + 2 * keys, h, block.qkv, config.qkv_bias);
  parts.linear(part(names.q), queries, h, block.q, config.qkv_bias);
  parts.linear(part(names.k), keys, h, block.k, config.qkv_bias);
  parts.linear(part(names.v), keys, h, block.v, config.qkv_bias);
  parts.linear(part(names.output), h, queries, block.output, config.output_bias);
  parts.tensor(part(names.q_norm), {config.head_size}, block.q_norm);
  parts.tensor(part(names.k_norm), {config.head_size}, block.k_norm);
  parts.norm(part(names.second_norm), block.second_norm);
  parts.linear(part(names.gate), config.inner, h, block.gate, config.mlp_bias);
  parts.linear(part(names.up), config.inner, h, block.up, config.mlp_bias);
  parts.linear(part(names.down), h, config.inner, block.down, config.mlp_bias);
}

}  // namespace

void visit_parameters(const CodelmConfig& config, NetworkWeights& weights,
                      nn::ParameterWalk& walk) {
  const auto names = tensor_names(config);
  PartWalk parts(config, walk);
  parts.tensor(names.tokens, {config.vocabulary, config.hidden}, weights.tokens);
  parts.tensor(names.positions, {config.context, config.hidden}, weights.positions);
  for (std::size_t i = 0; i < weights.blocks.size(); ++i) {
    visit_layer(config, names, static_cast<std::int64_t>(i), weights.blocks[i], walk);
  }
  parts.norm(names.final_norm, weights.final_norm);
  if (config.tied) return;
  parts.tensor(names.head, {config.vocabulary, config.hidden}, weights.head);
  if (config.head_bias) walk.tensor(names.head + ".bias", {config.vocabulary}, weights.head_bias);
}

std::vector<NamedShape> parameter_shapes(const CodelmConfig& config) {
  NetworkWeights weights;
  weights.blocks.resize(static_cast<std::size_t>(config.layers));
  nn::ParameterWalk walk;
  visit_parameters(config, weights, walk);
  return walk.shapes();
}

std::vector<NamedShape> linear_shapes(const CodelmConfig& config) {
  const auto names = tensor_names(config);
  nn::ParameterWalk walk;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    BlockWeights none;
    visit_layer(config, names, i, none, walk);
  }
  auto shapes = walk.shapes();
  std::erase_if(shapes, [](const NamedShape& item) { return item.second.size() != 2; });
  for (auto& [name, shape] : shapes) name.erase(name.size() - std::string(".weight").size());
  return shapes;
}

std::int64_t parameter_count(const CodelmConfig& config) {
  nn::ParameterWalk layer;
  BlockWeights none;
  visit_layer(config, tensor_names(config), 0, none, layer);
  auto outside = config;
  outside.layers = 0;
  const auto per_layer = nn::count_values(layer.shapes());
  // Sizes from a stranger's file may multiply to more than 64 bits hold.
  if (per_layer > kMostParameters / std::max<std::int64_t>(1, config.layers)) {
    return kMostParameters;
  }
  return nn::count_values(parameter_shapes(outside)) + config.layers * per_layer;
}

}  // namespace ubique::codelm
