// SPDX-License-Identifier: Apache-2.0
// ConvNeXt over frames, then upsampling to samples.
#include "ubique/models/acestep/net/codec/vocoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "ubique/kernels/diffusion/biased_silu.h"
#include "ubique/models/acestep/net/codec/conv_product.h"
#include "ubique/nn/layers/norm.h"

namespace ubique::acestep {
namespace {

constexpr double kConvNextNormEps = 1e-6;

/// Layer norm over the channels of (B, C, F).
at::Tensor frame_norm(const at::Tensor& x, const nn::WeightAndBias& weights) {
  return nn::layer_norm(x.transpose(1, 2), weights.weight, weights.bias, kConvNextNormEps)
      .transpose(1, 2);
}

/// A convolution that keeps the length, of a picture of one row (B, C, 1, L): so channels can lie
/// side by side. In the weight's dtype.
at::Tensor conv_same(const at::Tensor& x, const nn::WeightAndBias& weights,
                     std::int64_t dilation = 1) {
  if (prefers_product(weights.weight)) {
    return conv_product(x.to(weights.weight.scalar_type()), weights, dilation);
  }
  const auto padding = (weights.weight.size(2) - 1) * dilation / 2;
  return at::conv2d(x.to(weights.weight.scalar_type()), weights.weight.unsqueeze(2), weights.bias,
                    at::IntArrayRef{1, 1}, at::IntArrayRef{0, padding},
                    at::IntArrayRef{1, dilation});
}

/// A weight (out, in, taps) in f16, its input channels side by side; a bias in f16.
void halve(at::Tensor& value) {
  const auto half = value.detach().to(at::kHalf);
  value.set_data(half.dim() < 3
                     ? half
                     : half.unsqueeze(2).contiguous(at::MemoryFormat::ChannelsLast).squeeze(2));
}

void halve(nn::WeightAndBias& weights) {
  halve(weights.weight);
  halve(weights.bias);
}

at::Tensor conv_next(const ConvNextBlock& block, const at::Tensor& x) {
  const auto& depthwise = block.depthwise;
  auto y =
      at::conv1d(x, depthwise.weight, depthwise.bias, 1, depthwise.weight.size(2) / 2, 1, x.size(1))
          .transpose(1, 2);  // (B, F, C)
  y = nn::layer_norm(y, block.norm.weight, block.norm.bias, kConvNextNormEps);
  y = nn::linear(at::gelu(nn::linear(y, block.expand)), block.contract);
  return x + (y * block.gamma).transpose(1, 2);
}

/// dilated_block() of a sum and its SiLU where the device does all between two convolutions in one
/// pass.
at::Tensor fused_dilated_block(const DilatedBlock& block, const Sizes& dilations,
                               kernels::Activated now) {
  for (std::size_t i = 0; i < dilations.size(); ++i) {
    const auto &first = block.first[i], &second = block.second[i];
    const auto wide = conv_same(now.silu, {first.weight, {}}, dilations[i]);
    const auto inner = kernels::biased_silu(wide, first.bias, {}).silu;
    now = kernels::biased_silu(conv_same(inner, {second.weight, {}}), second.bias, now.sum);
  }
  return now.sum;
}

bool fuses_block(const DilatedBlock& block, const at::Tensor& x) {
  return !at::GradMode::is_enabled() && !block.first.empty() &&
         kernels::does_biased_silu(x, block.first.front().bias);
}

at::Tensor dilated_block(const DilatedBlock& block, const Sizes& dilations, const at::Tensor& x) {
  auto sum = x;
  for (std::size_t i = 0; i < dilations.size(); ++i) {
    auto inner = conv_same(at::silu(sum), block.first[i], dilations[i]);
    inner = inner.requires_grad() ? at::silu(inner) : at::silu_(inner);
    sum = conv_same(inner, block.second[i]).add_(sum);
  }
  return sum;
}

}  // namespace

Vocoder::Vocoder(const VocoderConfig& config, const at::TensorOptions& options) : config_(config) {
  create(options);
}

LocalSteps Vocoder::backbone_steps() const {
  const auto side = config_.kernel / 2;
  LocalSteps steps;
  for (std::size_t i = 0; i < weights_.stages.size(); ++i) {
    const auto& stage = weights_.stages[i];
    steps.push_back(
        i == 0 ? local_step(side,
                            [&stage, side](const at::Tensor& x) {
                              const auto wide = at::replication_pad1d(x, {side, side});
                              return frame_norm(
                                  at::conv1d(wide, stage.conv.weight, stage.conv.bias), stage.norm);
                            })
               : local_step(0, [&stage](const at::Tensor& x) {
                   return at::conv1d(frame_norm(x, stage.norm), stage.conv.weight, stage.conv.bias);
                 }));
    for (const auto& block : stage.blocks) {
      steps.push_back(
          local_step(side, [&block](const at::Tensor& x) { return conv_next(block, x); }));
    }
  }
  steps.push_back(
      local_step(0, [this](const at::Tensor& x) { return frame_norm(x, weights_.backbone_norm); }));
  return steps;
}

at::Tensor Vocoder::mix_blocks(std::size_t stage, const at::Tensor& x) const {
  const auto kernels = config_.resblock_kernels.size();
  const auto whole = x.contiguous(x.suggest_memory_format());  // a tile is part of another tensor
  const bool fuses = fuses_block(weights_.blocks[stage * kernels], whole);
  const auto silu = fuses ? at::silu(whole) : at::Tensor();  // of all blocks
  at::Tensor sum;
  for (std::size_t j = 0; j < kernels; ++j) {
    const auto& block = weights_.blocks[stage * kernels + j];
    const auto& dilations = config_.resblock_dilations[j];
    const auto y = fuses ? fused_dilated_block(block, dilations, {.sum = whole, .silu = silu})
                         : dilated_block(block, dilations, whole);
    sum = sum.defined() ? sum + y : y;
  }
  return sum / static_cast<double>(kernels);
}

void Vocoder::add_upsampling(LocalSteps& steps, std::size_t stage) const {
  const auto rate = config_.upsample_rates[stage], kernel = config_.upsample_kernels[stage];
  const auto padding = (kernel - rate) / 2;
  const auto& upsampler = weights_.upsamplers[stage];
  auto longer =
      local_step((kernel - 1 - padding) / rate, [&upsampler, rate, padding](const at::Tensor& x) {
        return at::conv_transpose2d(at::silu(x), upsampler.weight.unsqueeze(2), upsampler.bias,
                                    at::IntArrayRef{1, rate}, at::IntArrayRef{0, padding});
      });
  longer.up = rate;
  steps.push_back(std::move(longer));
  std::int64_t reach = 0;
  for (std::size_t j = 0; j < config_.resblock_kernels.size(); ++j) {
    const auto side = (config_.resblock_kernels[j] - 1) / 2;
    std::int64_t sum = 0;
    for (const auto dilation : config_.resblock_dilations[j]) sum += side * (dilation + 1);
    reach = std::max(reach, sum);
  }
  steps.push_back(
      local_step(reach, [this, stage](const at::Tensor& x) { return mix_blocks(stage, x); }));
}

LocalSteps Vocoder::steps() const {
  auto steps = backbone_steps();
  steps.push_back(local_step(config_.pre_kernel / 2, [this](const at::Tensor& x) {
    return conv_same(x.unsqueeze(2), weights_.input);
  }));
  for (std::size_t i = 0; i < weights_.upsamplers.size(); ++i) add_upsampling(steps, i);
  steps.push_back(local_step(config_.post_kernel / 2, [this](const at::Tensor& x) {
    return at::tanh(conv_same(at::silu(x), weights_.output)).squeeze(2);
  }));
  return steps;
}

void Vocoder::compute_in_half() {
  const at::NoGradGuard no_gradients;
  halve(weights_.input);
  for (auto& upsampler : weights_.upsamplers) halve(upsampler);
  for (auto& block : weights_.blocks) {
    for (auto& convolution : block.first) halve(convolution);
    for (auto& convolution : block.second) halve(convolution);
  }
}

at::Tensor Vocoder::backbone(const at::Tensor& mel) const {
  return run_steps(backbone_steps(), mel);
}

at::Tensor Vocoder::forward(const at::Tensor& mel) const { return run_steps(steps(), mel); }

}  // namespace ubique::acestep
