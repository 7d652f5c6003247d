// SPDX-License-Identifier: Apache-2.0
// Relative positions, attention with two query biases, and the blocks.
#include "ubique/models/acestep/net/lyric_encoder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "ubique/nn/layers/norm.h"

namespace ubique::acestep {
namespace {

constexpr double kLyricNormEps = 1e-5;
constexpr double kPositionBase = 10000;

/// What the layers of one pass share.
struct LyricPass {
  const LyricConfig& config;
  at::Tensor positions;  // (2L-1, H): sinusoids of offsets L-1 .. -(L-1)
  at::Tensor padding;    // (B, 1, 1, L) bool
  bool training;
};

at::Tensor lyric_dropout(const at::Tensor& x, const LyricPass& pass) {
  return pass.training ? at::dropout(x, pass.config.dropout, true) : x;
}

at::Tensor lyric_norm(const at::Tensor& x, const nn::WeightAndBias& weights) {
  return nn::layer_norm(x, weights.weight, weights.bias, kLyricNormEps);
}

/// scores (B, heads, L, 2L-1) by offset to (B, heads, L, L) by key: row i takes columns
/// L-1-i .. 2L-2-i.
at::Tensor by_key(const at::Tensor& scores) {
  const auto length = scores.size(2);
  const auto padded = at::constant_pad_nd(scores, {1, 0});  // (B, heads, L, 2L)
  return padded.flatten(2)
      .slice(2, length)
      .unflatten(2, {length, 2 * length - 1})
      .slice(3, 0, length);
}

at::Tensor lyric_attention(const LyricLayer& layer, const at::Tensor& x, const LyricPass& pass,
                           double query_scale) {
  const auto heads = pass.config.heads;
  const auto split = [&](const at::Tensor& y) {
    return y.unflatten(-1, {heads, -1}).transpose(-3, -2);  // (..., heads, L, size)
  };
  auto q = nn::linear(x, layer.q, pass.training);
  if (query_scale != 1) q = q * query_scale;
  q = q.unflatten(-1, {heads, -1});  // (B, L, heads, size)
  const auto k = split(nn::linear(x, layer.k, pass.training));
  const auto v = split(nn::linear(x, layer.v, pass.training));
  const auto p = split(nn::linear(pass.positions, layer.position));  // (heads, 2L-1, size)
  const auto by_content = at::matmul((q + layer.content_bias).transpose(1, 2), k.transpose(-1, -2));
  const auto by_offset = at::matmul((q + layer.position_bias).transpose(1, 2), p.transpose(-1, -2));
  const auto scale = 1 / std::sqrt(static_cast<double>(k.size(-1)));
  const auto scores = ((by_content + by_key(by_offset)) * scale).to(at::kFloat);
  // A large finite number and zeros afterwards: an item that is all padding gives zeros, not NaN.
  const auto shares = scores.masked_fill(pass.padding, -1e30)
                          .softmax(-1)
                          .masked_fill(pass.padding, 0)
                          .to(v.scalar_type());
  const auto mixed = at::matmul(shares, v).transpose(1, 2).flatten(2);
  return nn::linear(mixed, layer.output, pass.training);
}

at::Tensor lyric_feed_forward(const LyricLayer& layer, const at::Tensor& x, const LyricPass& pass) {
  const auto inner = lyric_dropout(at::silu(nn::linear(x, layer.up, pass.training)), pass);
  return nn::linear(inner, layer.down, pass.training);
}

void walk_lyric_layer(nn::ParameterWalk& walk, const std::string& name, const LyricConfig& config,
                      LyricLayer& layer) {
  const auto hidden = config.hidden, heads = config.heads;
  const auto attention = name + ".self_attn.";
  walk.tensor(attention + "pos_bias_u", {heads, hidden / heads}, layer.content_bias);
  walk.tensor(attention + "pos_bias_v", {heads, hidden / heads}, layer.position_bias);
  walk.linear(attention + "linear_q", hidden, hidden, layer.q);
  walk.linear(attention + "linear_k", hidden, hidden, layer.k);
  walk.linear(attention + "linear_v", hidden, hidden, layer.v);
  walk.linear(attention + "linear_out", hidden, hidden, layer.output);
  walk.linear(attention + "linear_pos", hidden, hidden, layer.position, false);
  walk.linear(name + ".feed_forward.w_1", config.inner, hidden, layer.up);
  walk.linear(name + ".feed_forward.w_2", hidden, config.inner, layer.down);
  walk.weights(name + ".norm_ff", {hidden}, layer.mlp_norm);
  walk.weights(name + ".norm_mha", {hidden}, layer.attention_norm);
}

}  // namespace

at::Tensor lyric_offsets(std::int64_t length, std::int64_t hidden) {
  const auto offsets = at::arange(length - 1, -length, -1, at::kFloat);
  const auto exponents = at::arange(0, hidden, 2, at::kFloat);
  const auto rate = -std::log(kPositionBase) / static_cast<double>(hidden);
  const auto angles = at::outer(offsets, (exponents * rate).exp());
  return at::stack({angles.sin(), angles.cos()}, -1).flatten(-2);  // (2N-1, H)
}

void walk_lyric(nn::ParameterWalk& walk, const std::string& name, const LyricConfig& config,
                LyricWeights& weights) {
  const auto hidden = config.hidden;
  weights.layers.resize(static_cast<std::size_t>(config.layers));
  walk.linear(name + ".embed.out.0", hidden, hidden, weights.input);
  walk.weights(name + ".embed.out.1", {hidden}, weights.input_norm);
  walk.weights(name + ".after_norm", {hidden}, weights.final_norm);
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    walk_lyric_layer(walk, fmt::format("{}.encoders.{}", name, i), config, weights.layers[i]);
  }
}

at::Tensor encode_lyrics(const LyricWeights& weights, const LyricConfig& config,
                         const at::Tensor& embedded, const at::Tensor& mask,
                         const at::Tensor& offsets, bool training, const LayerRange& weakened) {
  LyricPass pass{.config = config,
                 .positions = offsets,
                 .padding = mask.eq(0).unsqueeze(1).unsqueeze(1),
                 .training = training};
  pass.positions = lyric_dropout(pass.positions, pass);
  const auto normed = lyric_norm(nn::linear(embedded, weights.input, training), weights.input_norm);
  auto x =
      lyric_dropout(normed * std::sqrt(static_cast<double>(config.hidden)), pass);  // (B, L, H)
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    const auto& layer = weights.layers[i];
    const auto scale = weakened.contains(static_cast<std::int64_t>(i)) ? kWeakQuery : 1;
    x = x + lyric_dropout(lyric_attention(layer, lyric_norm(x, layer.attention_norm), pass, scale),
                          pass);
    x = x + lyric_dropout(lyric_feed_forward(layer, lyric_norm(x, layer.mlp_norm), pass), pass);
  }
  return lyric_norm(x, weights.final_norm);
}

}  // namespace ubique::acestep
