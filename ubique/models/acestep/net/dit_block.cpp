// SPDX-License-Identifier: Apache-2.0
// The parts of a block, and how their outputs are modulated by the time and added.
#include "ubique/models/acestep/net/dit_block.h"

#include <ATen/ATen.h>

#include "ubique/engine/step/autocast.h"
#include "ubique/nn/layers/attention.h"
#include "ubique/nn/layers/norm.h"
#include "ubique/nn/layers/rope.h"

namespace ubique::acestep {
namespace {

constexpr double kBlockNormEps = 1e-6;
constexpr double kLinearAttentionEps = 1e-15;

/// (B, n, heads·size) to (B, heads, n, size).
at::Tensor dit_heads(const at::Tensor& x, const DitConfig& config) {
  return x.unflatten(-1, {config.heads, config.head_size}).transpose(1, 2);
}

/// (1 + scale)·norm(x) + shift.
at::Tensor modulated(const at::Tensor& x, const at::Tensor& shift, const at::Tensor& scale) {
  return nn::rms_norm(x, {}, kBlockNormEps) * (1 + scale) + shift;
}

/// q·(kᵀv) over q·sum(k), in f32 whatever the plan's dtype: the sums run over the whole song.
at::Tensor read_by_sums(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const engine::Autocast in_f32(q.device().type(), {});
  const auto mixed = at::matmul(q, at::matmul(k.transpose(-1, -2), v));  // (B, heads, T, size)
  const auto total = at::matmul(q, k.sum(2).unsqueeze(-1));              // (B, heads, T, 1)
  return mixed / (total + kLinearAttentionEps);
}

void walk_attention(nn::ParameterWalk& walk, const std::string& name, std::int64_t hidden,
                    DitAttention& weights) {
  walk.linear(name + ".to_q", hidden, hidden, weights.q);
  walk.linear(name + ".to_k", hidden, hidden, weights.k);
  walk.linear(name + ".to_v", hidden, hidden, weights.v);
  walk.linear(name + ".to_out.0", hidden, hidden, weights.output);
}

}  // namespace

void walk_block(nn::ParameterWalk& walk, const std::string& name, const DitConfig& config,
                DitBlock& block) {
  const auto hidden = config.hidden(), inner = config.inner();
  walk.tensor(name + ".scale_shift_table", {6, hidden}, block.modulation);
  walk_attention(walk, name + ".attn", hidden, block.self);
  walk_attention(walk, name + ".cross_attn", hidden, block.cross);
  walk.pointwise(name + ".ff.inverted_conv.conv", 2 * inner, hidden, block.expand);
  walk.weights(name + ".ff.depth_conv.conv", {2 * inner, 1, 3}, block.depthwise);
  walk.pointwise(name + ".ff.point_conv.conv", hidden, inner, block.contract, false);
}

at::Tensor linear_attention(const DitAttention& weights, const at::Tensor& x, const DitPass& pass) {
  const auto project = [&](const nn::LinearWeights& linear) {
    return dit_heads(nn::linear(x, linear, pass.training), pass.config);
  };
  auto q = at::relu(nn::apply_rope_neighbours(project(weights.q), pass.cos, pass.sin));
  auto k = at::relu(nn::apply_rope_neighbours(project(weights.k), pass.cos, pass.sin));
  const auto v = project(weights.v).to(at::kFloat);
  if (pass.frames.defined()) {
    const auto rows = pass.frames.to(at::kFloat).unsqueeze(1).unsqueeze(-1);  // (B, 1, T, 1)
    q = q * rows;
    k = k * rows;
  }
  const auto y = read_by_sums(q, k, v).to(x.scalar_type());
  return nn::linear(y.transpose(1, 2).flatten(2), weights.output, pass.training);
}

ContextKeys context_keys(const DitAttention& weights, const at::Tensor& context,
                         const at::Tensor& cos, const at::Tensor& sin, const DitConfig& config,
                         bool training) {
  const auto keys = dit_heads(nn::linear(context, weights.k, training), config);
  return {nn::apply_rope_neighbours(keys, cos, sin).to(context.scalar_type()),
          dit_heads(nn::linear(context, weights.v, training), config)};
}

at::Tensor cross_attention(const DitAttention& weights, const at::Tensor& x,
                           const ContextKeys& context, const DitPass& pass,
                           const at::Tensor& query_scale) {
  auto q = nn::linear(x, weights.q, pass.training);
  if (query_scale.defined()) q = q * query_scale.to(q.scalar_type()).view({-1, 1, 1});
  q = nn::apply_rope_neighbours(dit_heads(q, pass.config), pass.cos, pass.sin).to(x.scalar_type());
  auto mixed = nn::masked_attention(q, context.keys, context.values, {.allowed = pass.context_mask})
                   .transpose(1, 2)
                   .flatten(2);  // (B, T, D)
  if (pass.frames.defined()) {
    mixed = mixed * pass.frames.to(mixed.scalar_type()).unsqueeze(-1);  // padding reads nothing
  }
  return nn::linear(mixed, weights.output, pass.training);
}

at::Tensor gated_convolution(const DitBlock& block, const at::Tensor& x, const at::Tensor& frames) {
  auto wide = nn::linear(x, block.expand);  // (B, T, 2·inner)
  wide = wide.requires_grad() ? at::silu(wide) : at::silu_(wide);
  if (frames.defined()) wide = wide * frames.to(wide.scalar_type()).unsqueeze(-1);
  // As a picture of one row whose channels lie side by side nothing is transposed in memory.
  const auto& depthwise = block.depthwise;
  const auto mixed =
      at::conv2d(wide.transpose(1, 2).unsqueeze(2), depthwise.weight.unsqueeze(2), depthwise.bias,
                 at::IntArrayRef{1, 1}, at::IntArrayRef{0, 1}, at::IntArrayRef{1, 1}, wide.size(-1))
          .squeeze(2)
          .transpose(1, 2);  // (B, T, 2·inner)
  const auto halves = mixed.chunk(2, -1);
  return nn::linear(halves[0] * at::silu(halves[1]), block.contract);
}

at::Tensor run_block(const DitBlock& block, const at::Tensor& x, const ContextKeys& context,
                     const DitPass& pass, const at::Tensor& query_scale) {
  const auto m = (block.modulation + pass.time).chunk(6, 1);  // each (B, 1, D)
  auto y = x + m[2] * linear_attention(block.self, modulated(x, m[0], m[1]), pass);
  y = y + cross_attention(block.cross, y, context, pass, query_scale);
  const auto frames = pass.exact_padding ? pass.frames : at::Tensor();
  return y + m[5] * gated_convolution(block, modulated(y, m[3], m[4]), frames);
}

}  // namespace ubique::acestep
