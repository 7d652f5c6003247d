// SPDX-License-Identifier: Apache-2.0
// Residual and attention blocks, steps between levels.
#include "ubique/models/acestep/net/codec/dcae_blocks.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "ubique/kernels/decoder/add_norm.h"
#include "ubique/kernels/diffusion/biased_silu.h"

namespace ubique::acestep {
namespace {

constexpr double kChannelNormEps = 1e-5;
constexpr double kScaleAttentionEps = 1e-15;
constexpr std::int64_t kExpansion = 4;

at::Tensor conv3(const at::Tensor& x, const nn::WeightAndBias& weights, std::int64_t stride = 1) {
  return at::conv2d(x, weights.weight, weights.bias, stride, 1);
}

/// SiLU of a convolution that keeps height and width, with the bias in the same pass where the
/// device has a kernel for it.
at::Tensor silu_conv(const at::Tensor& x, const nn::WeightAndBias& weights) {
  const auto padding = weights.weight.size(-1) / 2;
  const bool fuses = !at::GradMode::is_enabled() && kernels::does_biased_silu(x, weights.bias);
  if (!fuses) return at::silu(at::conv2d(x, weights.weight, weights.bias, 1, padding));
  const auto y = at::conv2d(x, weights.weight, {}, 1, padding);
  return kernels::biased_silu(y.contiguous(at::MemoryFormat::ChannelsLast), weights.bias, {}).silu;
}

/// A convolution within groups of channels that keeps height and width.
at::Tensor grouped_conv(const at::Tensor& x, const nn::WeightAndBias& weights,
                        std::int64_t groups) {
  const auto padding = weights.weight.size(-1) / 2;
  return at::conv2d(x, weights.weight, weights.bias, 1, padding, 1, groups);
}

/// A convolution of one position within groups of channels, as one product of each group: few
/// libraries have a fast convolution for it.
at::Tensor grouped_mix(const at::Tensor& x, const nn::WeightAndBias& weights, std::int64_t groups) {
  const auto columns = x.unflatten(1, {groups, -1}).flatten(3);                // (B, G, C/G, H·W)
  const auto matrices = weights.weight.flatten(1).unflatten(0, {groups, -1});  // (G, C/G, C/G)
  return at::matmul(matrices, columns).flatten(1, 2).unflatten(-1, {x.size(2), x.size(3)});
}

/// A linear layer over channels.
at::Tensor over_channels(const at::Tensor& x, const nn::LinearWeights& weights) {
  return nn::linear(x.movedim(1, -1), weights).movedim(-1, 1);
}

void walk_residual(nn::ParameterWalk& walk, const std::string& name, std::int64_t channels,
                   ResBlock& block) {
  walk.weights(name + ".conv1", {channels, channels, 3, 3}, block.first);
  walk.weights(name + ".conv2", {channels, channels, 3, 3}, block.second, false);
  walk.weights(name + ".norm", {channels}, block.norm);
}

void walk_vit(nn::ParameterWalk& walk, const std::string& name, const LevelShape& shape,
              VitBlock& block) {
  const auto channels = shape.channels, all = 3 * channels, inner = kExpansion * channels;
  const auto attention = name + ".attn.", mlp = name + ".conv_out.";
  walk.linear(attention + "to_q", channels, channels, block.q, false);
  walk.linear(attention + "to_k", channels, channels, block.k, false);
  walk.linear(attention + "to_v", channels, channels, block.v, false);
  block.scales.resize(shape.multiscales.size());
  for (std::size_t i = 0; i < block.scales.size(); ++i) {
    const auto scale = fmt::format("{}to_qkv_multiscale.{}.", attention, i);
    const auto size = shape.multiscales[i];
    walk.weights(scale + "proj_in", {all, 1, size, size}, block.scales[i].spread, false);
    walk.weights(scale + "proj_out", {all, shape.head_size, 1, 1}, block.scales[i].mix, false);
  }
  const auto scales = static_cast<std::int64_t>(1 + block.scales.size());
  walk.linear(attention + "to_out", channels, channels * scales, block.output, false);
  walk.weights(attention + "norm_out", {channels}, block.attention_norm);
  walk.weights(mlp + "conv_inverted", {2 * inner, channels, 1, 1}, block.expand);
  walk.weights(mlp + "conv_depth", {2 * inner, 1, 3, 3}, block.depthwise);
  walk.weights(mlp + "conv_point", {channels, inner, 1, 1}, block.contract, false);
  walk.weights(mlp + "norm", {channels}, block.mlp_norm);
}

at::Tensor residual_block(const ResBlock& block, const at::Tensor& part) {
  const auto x = part.contiguous(part.suggest_memory_format());  // of another tensor, in tiles
  const auto y = conv3(silu_conv(x, block.first), block.second);
  return channel_norm(y, block.norm) + x;
}

at::Tensor vit_mlp(const VitBlock& block, const at::Tensor& part) {
  const auto x = part.contiguous(part.suggest_memory_format());
  const auto wide = silu_conv(x, block.expand);
  const auto halves = grouped_conv(wide, block.depthwise, wide.size(1)).chunk(2, 1);
  const auto y = at::conv2d(halves[0] * at::silu(halves[1]), block.contract.weight);
  return channel_norm(y, block.mlp_norm) + x;
}

/// Queries, keys and values of all heads at all scales: (B, heads, size, H, W) each, in f32.
struct VitHeads {
  at::Tensor q, k, v;
};

/// Consecutive groups of 3·head_size channels are one head's queries, keys and values, whichever
/// of the three projections they come from: the original was trained so.
VitHeads vit_heads(const VitBlock& block, const at::Tensor& x, std::int64_t head_size) {
  const auto qkv =
      at::cat({over_channels(x, block.q), over_channels(x, block.k), over_channels(x, block.v)}, 1);
  std::vector<at::Tensor> all = {qkv};
  for (const auto& scale : block.scales) {
    const auto spread = grouped_conv(qkv, scale.spread, qkv.size(1));
    all.push_back(grouped_mix(spread, scale.mix, qkv.size(1) / head_size));
  }
  const auto parts = at::cat(all, 1).to(at::kFloat).unflatten(1, {-1, 3 * head_size}).chunk(3, 2);
  return {.q = at::relu(parts[0]), .k = at::relu(parts[1]), .v = parts[2]};
}

at::Tensor sums_of(const VitHeads& heads, Range columns) {
  const auto own = [&](const at::Tensor& y) {
    return y.slice(-1, columns.begin, columns.end).flatten(3);
  };
  const auto k = own(heads.k);
  return at::cat({at::matmul(own(heads.v), k.transpose(-1, -2)), k.sum(-1).unsqueeze(2)}, 2);
}

}  // namespace

void walk_level(nn::ParameterWalk& walk, const LevelShape& shape, DcaeLevel& level) {
  const bool stepped = shape.step_out > 0;
  const auto step = [&](std::int64_t child) {
    walk.weights(fmt::format("{}.{}.conv", shape.name, child),
                 {shape.step_out, shape.step_in, 3, 3}, level.step);
  };
  const bool first = stepped && shape.place == StepPlace::First;
  if (first) step(0);
  const auto count = static_cast<std::size_t>(shape.layers);
  level.residual.resize(shape.attention ? 0 : count);
  level.attention.resize(shape.attention ? count : 0);
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = fmt::format("{}.{}", shape.name, i + (first ? 1 : 0));
    if (shape.attention) {
      walk_vit(walk, name, shape, level.attention[i]);
    } else {
      walk_residual(walk, name, shape.channels, level.residual[i]);
    }
  }
  if (stepped && !first) step(shape.layers);
}

/// Sums over channels in whatever layout x has: a norm over the last dimension would be strided. It
/// is not where channels lie side by side, and devices may have a kernel for such rows.
at::Tensor channel_norm(const at::Tensor& x, const nn::WeightAndBias& weights) {
  const auto rows = x.permute({0, 2, 3, 1});
  if (!at::GradMode::is_enabled() && kernels::does_add_norm(rows, x.scalar_type())) {
    const kernels::NormOptions options{.center = false, .epsilon = kChannelNormEps};
    const auto normed = std::get<1>(
        kernels::add_norm(rows, {}, weights.weight, weights.bias, x.scalar_type(), options));
    return normed.permute({0, 3, 1, 2});
  }
  const auto wide = x.to(at::kFloat);
  const auto length = at::linalg_vector_norm(wide, 2, at::IntArrayRef{1}, true);  // (B, 1, H, W)
  const auto mean = length.square() / static_cast<double>(x.size(1));
  const auto normed = wide * (mean + kChannelNormEps).rsqrt();
  const auto along = [](const at::Tensor& y) { return y.to(at::kFloat).view({-1, 1, 1}); };
  return at::addcmul(along(weights.bias), normed, along(weights.weight)).to(x.scalar_type());
}

at::Tensor vit_sums(const VitBlock& block, const at::Tensor& x, std::int64_t head_size,
                    Range columns) {
  return sums_of(vit_heads(block, x, head_size), columns);
}

at::Tensor vit_attention(const VitBlock& block, const at::Tensor& x, std::int64_t head_size,
                         const at::Tensor& sums) {
  const auto heads = vit_heads(block, x, head_size);
  const auto& all = sums.defined() ? sums : sums_of(heads, {0, x.size(3)});
  const auto mixed = at::matmul(all, heads.q.flatten(3));  // (B, heads, size + 1, H·W)
  const auto total = mixed.slice(2, head_size);
  const auto y = (mixed.slice(2, 0, head_size) / (total + kScaleAttentionEps))
                     .flatten(1, 2)
                     .unflatten(-1, {x.size(2), x.size(3)})
                     .to(x.scalar_type());
  return channel_norm(over_channels(y, block.output), block.attention_norm) + x;
}

void add_blocks(LocalSteps& steps, const DcaeLevel& level, std::int64_t head_size) {
  for (const auto& block : level.residual) {
    steps.push_back(
        local_step(2, [&block](const at::Tensor& x) { return residual_block(block, x); }));
  }
  for (const auto& block : level.attention) {
    LocalStep attention;
    for (const auto& scale : block.scales) {
      attention.reach = std::max(attention.reach, scale.spread.weight.size(-1) / 2);
    }
    attention.run = [&block, head_size](const at::Tensor& x, const at::Tensor& sums) {
      return vit_attention(block, x, head_size, sums);
    };
    attention.sum = [&block, head_size](const at::Tensor& x, Range columns) {
      return vit_sums(block, x, head_size, columns);
    };
    steps.push_back(std::move(attention));
    steps.push_back(local_step(1, [&block](const at::Tensor& x) { return vit_mlp(block, x); }));
  }
}

at::Tensor step_down(const nn::WeightAndBias& step, const at::Tensor& x) {
  const auto quarters = at::pixel_unshuffle(x, 2);  // (B, 4C, H/2, W/2)
  const auto shortcut = quarters.unflatten(1, {step.weight.size(0), -1}).mean(2);
  return conv3(x, step, 2) + shortcut;
}

at::Tensor step_up(const nn::WeightAndBias& step, const at::Tensor& x) {
  const auto out = step.weight.size(0);
  const auto larger = at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
  auto y = conv3(larger, step);
  // Quarter (i, j) of an output gets channel 4 out + 2 i + j of x with its channels repeated: of
  // the 4, 2 or 1 that x has for each output, those that differ by i, and those by j.
  const auto wide = x.size(1) < out ? x.repeat_interleave(out / x.size(1), 1) : x;
  const auto own = wide.size(1) / out;
  const auto shortcut = wide.unflatten(1, {out, own > 1 ? 2 : 1, own > 2 ? 2 : 1})
                            .expand({-1, -1, 2, 2, -1, -1})  // (B, out, i, j, H, W)
                            .permute({0, 1, 4, 2, 5, 3});
  y.unflatten(3, {-1, 2}).unflatten(2, {-1, 2}).add_(shortcut);  // (B, out, H, i, W, j)
  return y;
}

}  // namespace ubique::acestep
