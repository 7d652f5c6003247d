// SPDX-License-Identifier: Apache-2.0
// The parts of a block, and how their outputs are modulated by the time and added.
#include "ubique/models/acestep/net/dit_block.h"

#include <ATen/ATen.h>

#include "ubique/engine/step/autocast.h"
#include "ubique/engine/step/recompute.h"
#include "ubique/kernels/diffusion/gated_conv.h"
#include "ubique/kernels/diffusion/rotate_pairs.h"
#include "ubique/nn/layers/attention.h"
#include "ubique/nn/layers/norm.h"
#include "ubique/nn/layers/rope.h"

namespace ubique::acestep {
namespace {

constexpr double kBlockNormEps = 1e-6;
constexpr double kLinearAttentionEps = 1e-15;
constexpr std::int64_t kSumColumns = 8;  // behind values: one would do, products like multiples

/// (B, n, heads·size) to (B, heads, n, size).
at::Tensor dit_heads(const at::Tensor& x, const DitConfig& config) {
  return x.unflatten(-1, {config.heads, config.head_size}).transpose(1, 2);
}

/// x + branch, and factor·norm(x + branch) + shift; factor and shift (B or 1, 1, D).
nn::Normed add_modulated(const at::Tensor& x, const at::Tensor& branch, const at::Tensor& shift,
                         const at::Tensor& factor) {
  if (shift.size(0) == 1) {  // of all rows
    return nn::add_norm(x, {branch}, factor.flatten(), shift.flatten(),
                        {.center = false, .epsilon = kBlockNormEps});
  }
  const auto sum = branch.defined() ? x + branch : x;
  const auto normed = nn::rms_norm(sum, {}, kBlockNormEps) * factor + shift;
  return {sum, normed.to(x.scalar_type())};
}

/// fused(inputs), which records no gradients; they are those of plain(inputs), computed for them.
at::Tensor fused_forward(const engine::RecomputedFunction& fused,
                         const engine::RecomputedFunction& plain,
                         const std::vector<at::Tensor>& inputs) {
  if (!at::GradMode::is_enabled()) return fused(inputs);
  return engine::recompute(
      [fused, plain](const std::vector<at::Tensor>& in) {
        return at::GradMode::is_enabled() ? plain(in) : fused(in);
      },
      inputs);
}

/// q·(kᵀv) over q·sum(k) of projections (B, T, D), in f32 whatever the plan's dtype: the sums run
/// over the whole song. Returns (B, T, D) in their dtype.
at::Tensor read_by_sums(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                        const DitPass& pass) {
  const auto turned = [&](const at::Tensor& projected) {
    const auto heads = dit_heads(projected, pass.config);
    const auto y = at::relu(nn::apply_rope_neighbours(heads, pass.cos, pass.sin));
    if (!pass.frames.defined()) return y;
    return y * pass.frames.to(at::kFloat).unsqueeze(1).unsqueeze(-1);  // (B, 1, T, 1)
  };
  const engine::Autocast in_f32(q.device().type(), {});
  const auto queries = turned(q), keys = turned(k);  // (B, heads, T, size)
  const auto values = dit_heads(v, pass.config).to(at::kFloat);
  const auto mixed = at::matmul(queries, at::matmul(keys.transpose(-1, -2), values));
  const auto total = at::matmul(queries, keys.sum(2).unsqueeze(-1));  // (B, heads, T, 1)
  const auto y = (mixed / (total + kLinearAttentionEps)).to(q.scalar_type());
  return y.transpose(1, 2).flatten(2);
}

/// The same where the device makes q, k and v of their projections in one pass each; all sums come
/// of the two products.
at::Tensor fused_read_by_sums(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const DitPass& pass) {
  const engine::Autocast in_f32(q.device().type(), {});
  const auto heads = pass.config.heads, size = pass.config.head_size;
  const kernels::PairRotation rotation{
      .cos = pass.cos, .sin = pass.sin, .heads = heads, .relu = true};
  const kernels::PairRotation of_values{.heads = heads, .ones = kSumColumns};
  const auto queries = kernels::rotate_pairs(q, rotation, at::kFloat).flatten(0, 1);
  const auto keys = kernels::rotate_pairs(k, rotation, at::kFloat).flatten(0, 1);
  const auto values = kernels::rotate_pairs(v, of_values, at::kFloat).flatten(0, 1);
  const auto sums = at::bmm(keys.transpose(1, 2), values);  // (B·heads, size, size + 8)
  const auto read = at::bmm(queries, sums).unflatten(0, {-1, heads});
  const auto total = read.slice(-1, size, size + 1) + kLinearAttentionEps;  // (B, heads, T, 1)
  auto y = at::empty_like(q).unflatten(-1, {heads, size});
  auto by_heads = y.transpose(1, 2);
  at::div_out(by_heads, read.slice(-1, 0, size), total);
  return y.flatten(2);
}

bool fuses_heads(const at::Tensor& projected, const DitPass& pass) {
  if (pass.frames.defined()) return false;
  const kernels::PairRotation rotation{
      .cos = pass.cos, .sin = pass.sin, .heads = pass.config.heads, .relu = true};
  return kernels::does_rotate_pairs(projected, rotation, at::kFloat);
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
  const auto of_q = nn::linear(x, weights.q, pass.training);
  const auto of_k = nn::linear(x, weights.k, pass.training);
  const auto of_v = nn::linear(x, weights.v, pass.training);
  const auto plain = [pass](const std::vector<at::Tensor>& in) {
    return read_by_sums(in[0], in[1], in[2], pass);
  };
  const auto fused = [pass](const std::vector<at::Tensor>& in) {
    return fused_read_by_sums(in[0], in[1], in[2], pass);
  };
  const std::vector<at::Tensor> inputs = {of_q, of_k, of_v};
  const auto y = fuses_heads(of_q, pass) ? fused_forward(fused, plain, inputs) : plain(inputs);
  return nn::linear(y, weights.output, pass.training);
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
  if (at::GradMode::is_enabled()) {
    const auto turned = nn::apply_rope_neighbours(dit_heads(q, pass.config), pass.cos, pass.sin);
    q = turned.to(x.scalar_type());
  } else {
    q = kernels::rotate_pairs(q, {.cos = pass.cos, .sin = pass.sin, .heads = pass.config.heads},
                              x.scalar_type());
  }
  auto mixed = nn::masked_attention(q, context.keys, context.values, {.allowed = pass.context_mask})
                   .transpose(1, 2)
                   .flatten(2);  // (B, T, D)
  if (pass.frames.defined()) {
    mixed = mixed * pass.frames.to(mixed.scalar_type()).unsqueeze(-1);  // padding reads nothing
  }
  return nn::linear(mixed, weights.output, pass.training);
}

at::Tensor gated_convolution(const DitBlock& block, const at::Tensor& x, const at::Tensor& frames) {
  const auto& depthwise = block.depthwise;
  const auto wide = nn::linear(x, block.expand);  // (B, T, 2·inner)
  const auto plain = [depthwise, frames](const std::vector<at::Tensor>& in) {
    return kernels::plain_gated_conv(in[0], depthwise.weight, depthwise.bias, frames);
  };
  const auto fused = [depthwise](const std::vector<at::Tensor>& in) {
    return kernels::gated_conv(in[0], depthwise.weight, depthwise.bias);
  };
  const auto shifted = [depthwise](const std::vector<at::Tensor>& in) {
    return kernels::shifted_gated_conv(in[0], depthwise.weight, depthwise.bias);
  };
  const bool fuses = !frames.defined() && kernels::does_gated_conv(wide, depthwise.weight);
  const auto gated = fuses ? fused_forward(fused, shifted, {wide}) : plain({wide});
  return nn::linear(gated, block.contract);
}

at::Tensor run_block(const DitBlock& block, const at::Tensor& x, const ContextKeys& context,
                     const DitPass& pass, const at::Tensor& query_scale) {
  const auto all = block.modulation + pass.time;  // (B or 1, 6, D)
  const auto m = all.chunk(6, 1), factors = (1 + all).chunk(6, 1);
  const auto gates = all.to(x.scalar_type()).chunk(6, 1);
  const auto first = add_modulated(x, {}, m[0], factors[1]).normed;
  const auto y = at::addcmul(x, gates[2], linear_attention(block.self, first, pass));
  const auto crossed = cross_attention(block.cross, y, context, pass, query_scale);
  const auto second = add_modulated(y, crossed, m[3], factors[4]);
  const auto frames = pass.exact_padding ? pass.frames : at::Tensor();
  return at::addcmul(second.sum, gates[5], gated_convolution(block, second.normed, frames));
}

}  // namespace ubique::acestep
