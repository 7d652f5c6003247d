// SPDX-License-Identifier: Apache-2.0
// Buckets of distances, attention with a position bias, and the gated MLP.
#include "ubique/models/acestep/net/umt5.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <cmath>

#include "ubique/nn/layers/mlp.h"
#include "ubique/nn/layers/norm.h"

namespace ubique::acestep {
namespace {

void walk_layer(nn::ParameterWalk& walk, const std::string& name, const Umt5Config& config,
                Umt5Layer& layer) {
  const auto hidden = config.hidden, inner = config.heads * config.head_size;
  const auto attention = name + ".layer.0.SelfAttention.", mlp = name + ".layer.1.DenseReluDense.";
  walk.linear(attention + "q", inner, hidden, layer.q, false);
  walk.linear(attention + "k", inner, hidden, layer.k, false);
  walk.linear(attention + "v", inner, hidden, layer.v, false);
  walk.linear(attention + "o", hidden, inner, layer.output, false);
  walk.tensor(attention + "relative_attention_bias.weight", {config.buckets, config.heads},
              layer.position_bias);
  walk.tensor(name + ".layer.0.layer_norm.weight", {hidden}, layer.attention_norm);
  walk.linear(mlp + "wi_0", config.inner, hidden, layer.gate, false);
  walk.linear(mlp + "wi_1", config.inner, hidden, layer.up, false);
  walk.linear(mlp + "wo", hidden, config.inner, layer.down, false);
  walk.tensor(name + ".layer.1.layer_norm.weight", {hidden}, layer.mlp_norm);
}

void walk_umt5(nn::ParameterWalk& walk, const Umt5Config& config, Umt5Weights& weights) {
  weights.layers.resize(static_cast<std::size_t>(config.layers));
  walk.tensor("shared.weight", {config.vocabulary, config.hidden}, weights.tokens);
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    walk_layer(walk, fmt::format("encoder.block.{}", i), config, weights.layers[i]);
  }
  walk.tensor("encoder.final_layer_norm.weight", {config.hidden}, weights.final_norm);
}

/// (B, S, heads·size) to (B, heads, S, size).
at::Tensor text_heads(const at::Tensor& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, -1}).transpose(1, 2);
}

}  // namespace

std::int64_t relative_bucket(std::int64_t distance, const Umt5Config& config) {
  const auto half = config.buckets / 2, exact = half / 2;  // per direction; one per distance
  const auto base = distance > 0 ? half : 0, far = std::abs(distance);
  if (far < exact) return base + far;
  const auto ratio = static_cast<float>(far) / static_cast<float>(exact);
  const auto span = std::log(static_cast<double>(config.max_distance) / static_cast<double>(exact));
  const auto share = std::log(ratio) / static_cast<float>(span);
  const auto step = static_cast<std::int64_t>(share * static_cast<float>(half - exact));
  return base + std::min(half - 1, exact + step);
}

at::Tensor relative_buckets(std::int64_t count, const Umt5Config& config) {
  auto by_distance = at::empty({2 * count - 1}, at::kLong);  // of -(count - 1) .. count - 1
  auto* values = by_distance.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < 2 * count - 1; ++i) {
    values[i] = relative_bucket(i - (count - 1), config);
  }
  const auto positions = at::arange(count, at::kLong);
  const auto distances = positions.unsqueeze(0) - positions.unsqueeze(1);  // key - query
  return by_distance.index_select(0, (distances + (count - 1)).flatten()).view({count, count});
}

Umt5::Umt5(const Umt5Config& config, const at::TensorOptions& options) : config_(config) {
  create(options);
}

void Umt5::visit(nn::ParameterWalk& walk) { walk_umt5(walk, config_, weights_); }

nn::NamedShapes parameter_shapes(const Umt5Config& config) {
  Umt5Weights none;
  nn::ParameterWalk walk;
  walk_umt5(walk, config, none);
  return walk.shapes();
}

/// A corner of a table that is made anew when it is too small: buckets depend on distances alone,
/// and a step that is recorded copies nothing from the host.
at::Tensor Umt5::buckets_of(std::int64_t count, c10::Device device) const {
  const bool fits = buckets_.defined() && buckets_.device() == device && buckets_.size(0) >= count;
  if (!fits) {
    const c10::InferenceMode off(false);  // a preview's table serves training too
    buckets_ = relative_buckets(count, config_).to(device);
  }
  return buckets_.slice(0, 0, count).slice(1, 0, count);
}

at::Tensor Umt5::attend(const Umt5Layer& layer, const at::Tensor& x, const at::Tensor& bias,
                        double query_scale) const {
  auto q = nn::linear(x, layer.q);
  if (query_scale != 1) q = q * query_scale;
  const auto mixed = at::scaled_dot_product_attention(
      text_heads(q, config_.heads), text_heads(nn::linear(x, layer.k), config_.heads),
      text_heads(nn::linear(x, layer.v), config_.heads), bias, 0, false, /*scale=*/1.0);
  return nn::linear(mixed.transpose(1, 2).flatten(2), layer.output);
}

at::Tensor Umt5::forward(const at::Tensor& ids, const at::Tensor& mask,
                         const LayerRange& weakened) const {
  const auto& tokens = weights_.tokens;  // may have stayed on the host, in the file's dtype
  auto x = at::embedding(tokens, ids.to(tokens.device())).to(weights_.final_norm.options());
  const auto buckets = buckets_of(ids.size(1), ids.device());
  const auto padding = mask.eq(0).unsqueeze(1).unsqueeze(1);  // (B, 1, 1, S)
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    const auto& layer = weights_.layers[i];
    const auto scale = weakened.contains(static_cast<std::int64_t>(i)) ? kWeakQuery : 1;
    const auto bias = at::embedding(layer.position_bias, buckets)  // (S, S, heads)
                          .permute({2, 0, 1})
                          .unsqueeze(0)
                          .masked_fill(padding, -INFINITY);  // (B, heads, S, S)
    const auto normed = nn::rms_norm(x, layer.attention_norm, config_.norm_eps);
    x = x + attend(layer, normed, bias, scale);
    x = x + nn::gated_mlp(nn::rms_norm(x, layer.mlp_norm, config_.norm_eps), layer.gate, layer.up,
                          layer.down, nn::Activation::GeluTanh);
  }
  return nn::rms_norm(x, weights_.final_norm, config_.norm_eps);
}

}  // namespace ubique::acestep
