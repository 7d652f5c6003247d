// SPDX-License-Identifier: Apache-2.0
// Names and shapes of every tensor in the files of each architecture.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/models/codelm/net/layout.h"

namespace ubique::codelm {
namespace {

TensorNames bigcode_names() {
  TensorNames names;
  names.tokens = "transformer.wte";
  names.positions = "transformer.wpe";
  names.layer = "transformer.h.";
  names.final_norm = "transformer.ln_f";
  names.first_norm = "ln_1";
  names.second_norm = "ln_2";
  names.qkv = "attn.c_attn";
  names.output = "attn.c_proj";
  names.up = "mlp.c_fc";
  names.down = "mlp.c_proj";
  return names;
}

/// What StarCoder2, Phi, Llama and Qwen share.
TensorNames common_names() {
  TensorNames names;
  names.tokens = "model.embed_tokens";
  names.layer = "model.layers.";
  names.final_norm = "model.norm";
  names.first_norm = "input_layernorm";
  names.second_norm = "post_attention_layernorm";
  names.q = "self_attn.q_proj";
  names.k = "self_attn.k_proj";
  names.v = "self_attn.v_proj";
  names.output = "self_attn.o_proj";
  return names;
}

TensorNames names_of(Architecture architecture) {
  if (architecture == Architecture::GptBigCode) return bigcode_names();
  auto names = common_names();
  switch (architecture) {
    case Architecture::Starcoder2:
      names.up = "mlp.c_fc";
      names.down = "mlp.c_proj";
      return names;
    case Architecture::Phi:
      names.final_norm = "model.final_layernorm";
      names.second_norm.clear();
      names.output = "self_attn.dense";
      names.up = "mlp.fc1";
      names.down = "mlp.fc2";
      return names;
    case Architecture::Qwen3:
      names.q_norm = "self_attn.q_norm";
      names.k_norm = "self_attn.k_norm";
      [[fallthrough]];
    default:
      names.gate = "mlp.gate_proj";
      names.up = "mlp.up_proj";
      names.down = "mlp.down_proj";
      return names;
  }
}

/// Collects names with shapes; parts with an empty name do not exist.
class ShapeList {
 public:
  explicit ShapeList(const CodelmConfig& config) : config_(config) {}

  void matrix(const std::string& name, std::int64_t out, std::int64_t in, bool bias) {
    if (name.empty()) return;
    list.push_back({name + ".weight", {out, in}});
    if (bias) list.push_back({name + ".bias", {out}});
  }
  void norm(const std::string& name) {
    if (name.empty()) return;
    list.push_back({name + ".weight", {config_.hidden}});
    if (config_.norm == NormKind::Layer) list.push_back({name + ".bias", {config_.hidden}});
  }
  void head_norm(const std::string& name) {
    if (!name.empty()) list.push_back({name + ".weight", {config_.head_size}});
  }

  std::vector<NamedShape> list;

 private:
  const CodelmConfig& config_;
};

void add_layer(const CodelmConfig& config, const TensorNames& names, std::int64_t layer,
               ShapeList& shapes) {
  const auto h = config.hidden;
  const auto queries = config.heads * config.head_size, keys = config.kv_heads * config.head_size;
  const auto part = [&](const std::string& name) { return layer_name(names, layer, name); };
  shapes.norm(part(names.first_norm));
  shapes.matrix(part(names.qkv), queries + 2 * keys, h, config.qkv_bias);
  shapes.matrix(part(names.q), queries, h, config.qkv_bias);
  shapes.matrix(part(names.k), keys, h, config.qkv_bias);
  shapes.matrix(part(names.v), keys, h, config.qkv_bias);
  shapes.matrix(part(names.output), h, queries, config.output_bias);
  shapes.head_norm(part(names.q_norm));
  shapes.head_norm(part(names.k_norm));
  shapes.norm(part(names.second_norm));
  shapes.matrix(part(names.gate), config.inner, h, config.mlp_bias);
  shapes.matrix(part(names.up), config.inner, h, config.mlp_bias);
  shapes.matrix(part(names.down), h, config.inner, config.mlp_bias);
}

}  // namespace

TensorNames tensor_names(const CodelmConfig& config) {
  auto names = names_of(config.architecture);
  names.head = config.tied ? names.tokens : "lm_head";
  return names;
}

std::string layer_name(const TensorNames& names, std::int64_t layer, const std::string& part) {
  return part.empty() ? part : fmt::format("{}{}.{}", names.layer, layer, part);
}

std::vector<NamedShape> parameter_shapes(const CodelmConfig& config) {
  const auto names = tensor_names(config);
  ShapeList shapes(config);
  shapes.matrix(names.tokens, config.vocabulary, config.hidden, false);
  shapes.matrix(names.positions, config.context, config.hidden, false);
  for (std::int64_t i = 0; i < config.layers; ++i) add_layer(config, names, i, shapes);
  shapes.norm(names.final_norm);
  if (!config.tied) shapes.matrix(names.head, config.vocabulary, config.hidden, config.head_bias);
  return std::move(shapes.list);
}

std::vector<NamedShape> linear_shapes(const CodelmConfig& config) {
  const auto names = tensor_names(config);
  ShapeList shapes(config);
  for (std::int64_t i = 0; i < config.layers; ++i) add_layer(config, names, i, shapes);
  std::erase_if(shapes.list, [](const NamedShape& item) { return item.second.size() != 2; });
  for (auto& [name, shape] : shapes.list) name.erase(name.size() - std::string(".weight").size());
  return std::move(shapes.list);
}

std::int64_t parameter_count(const CodelmConfig& config) {
  const auto elements = [](const std::vector<NamedShape>& shapes) {
    std::int64_t sum = 0;
    for (const auto& [name, shape] : shapes) {
      std::int64_t count = 1;
      for (const auto extent : shape) count *= extent;
      sum += count;
    }
    return sum;
  };
  ShapeList layer(config);
  add_layer(config, tensor_names(config), 0, layer);
  auto outside = config;
  outside.layers = 0;
  const auto per_layer = elements(layer.list);
  // Sizes from a stranger's file may multiply to more than 64 bits hold.
  if (per_layer > kMostParameters / std::max<std::int64_t>(1, config.layers)) {
    return kMostParameters;
  }
  return elements(parameter_shapes(outside)) + config.layers * per_layer;
}

}  // namespace ubique::codelm
