// SPDX-License-Identifier: Apache-2.0
// ConvNeXt over frames, then upsampling to samples.
#include "ubique/models/acestep/net/vocoder.h"

#include <ATen/ATen.h>

#include "ubique/nn/layers/norm.h"

namespace ubique::acestep {
namespace {

constexpr double kConvNextNormEps = 1e-6;

/// Layer norm over the channels of (B, C, F).
at::Tensor frame_norm(const at::Tensor& x, const nn::WeightAndBias& weights) {
  return nn::layer_norm(x.transpose(1, 2), weights.weight, weights.bias, kConvNextNormEps)
      .transpose(1, 2);
}

/// A convolution that keeps the length.
at::Tensor conv_same(const at::Tensor& x, const nn::WeightAndBias& weights,
                     std::int64_t dilation = 1) {
  const auto padding = (weights.weight.size(2) - 1) * dilation / 2;
  return at::conv1d(x, weights.weight, weights.bias, 1, padding, dilation);
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

at::Tensor dilated_block(const DilatedBlock& block, const Sizes& dilations, const at::Tensor& x) {
  auto sum = x;
  for (std::size_t i = 0; i < dilations.size(); ++i) {
    const auto inner = conv_same(at::silu(sum), block.first[i], dilations[i]);
    sum = sum + conv_same(at::silu(inner), block.second[i]);
  }
  return sum;
}

}  // namespace

Vocoder::Vocoder(const VocoderConfig& config, const at::TensorOptions& options) : config_(config) {
  create(options);
}

at::Tensor Vocoder::backbone(const at::Tensor& mel) const {
  auto x = mel;
  for (std::size_t i = 0; i < weights_.stages.size(); ++i) {
    const auto& stage = weights_.stages[i];
    if (i == 0) {
      const auto side = config_.kernel / 2;
      x = at::replication_pad1d(x, {side, side});
      x = frame_norm(at::conv1d(x, stage.conv.weight, stage.conv.bias), stage.norm);
    } else {
      x = at::conv1d(frame_norm(x, stage.norm), stage.conv.weight, stage.conv.bias);
    }
    for (const auto& block : stage.blocks) x = conv_next(block, x);
  }
  return frame_norm(x, weights_.backbone_norm);
}

at::Tensor Vocoder::upsample(std::size_t stage, const at::Tensor& x) const {
  const auto& upsampler = weights_.upsamplers[stage];
  const auto rate = config_.upsample_rates[stage];
  const auto padding = (config_.upsample_kernels[stage] - rate) / 2;
  const auto longer =
      at::conv_transpose1d(at::silu(x), upsampler.weight, upsampler.bias, rate, padding);
  const auto kernels = config_.resblock_kernels.size();
  at::Tensor sum;
  for (std::size_t j = 0; j < kernels; ++j) {
    const auto y =
        dilated_block(weights_.blocks[stage * kernels + j], config_.resblock_dilations[j], longer);
    sum = sum.defined() ? sum + y : y;
  }
  return sum / static_cast<double>(kernels);
}

at::Tensor Vocoder::forward(const at::Tensor& mel) const {
  auto x = conv_same(backbone(mel), weights_.input);
  for (std::size_t i = 0; i < weights_.upsamplers.size(); ++i) x = upsample(i, x);
  return at::tanh(conv_same(at::silu(x), weights_.output));
}

}  // namespace ubique::acestep
