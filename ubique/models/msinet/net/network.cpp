// SPDX-License-Identifier: Apache-2.0
// Encoder, ASPP module and decoder; the frozen form for inference.
#include "ubique/models/msinet/net/network.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/kernels/conv/max_pool.h"
#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/fused_conv.h"
#include "ubique/models/msinet/net/preprocess.h"
#include "ubique/models/msinet/net/upsample.h"

namespace ubique::msinet {
namespace {

constexpr double kRangeEpsilon = 1e-7;

/// Splits the kernel of a 1x1 convolution: the first `width` input channels, and the rest.
std::pair<at::Tensor, at::Tensor> split_kernel(const at::Tensor& kernel, std::int64_t width) {
  return {kernel.slice(1, 0, width).contiguous(), kernel.slice(1, width).contiguous()};
}

/// at::cat(tensors, 1). In channels last it concatenates along the innermost axis, for which
/// devices have a fast kernel; at::cat along dim 1 takes a slow one.
at::Tensor join_channels(const std::vector<at::Tensor>& tensors, at::MemoryFormat format) {
  if (format == at::MemoryFormat::Contiguous) return at::cat(tensors, 1);
  std::vector<at::Tensor> pixels;
  for (const auto& tensor : tensors) pixels.push_back(tensor.permute({0, 2, 3, 1}));
  return at::cat(pixels, 3).permute({0, 3, 1, 2});  // (B, C, H, W)
}

}  // namespace

Convolution::Convolution(const LayerSpec& spec)
    : weight(
          register_parameter("weight", at::zeros({spec.out, spec.in, spec.kernel, spec.kernel}))),
      bias(register_parameter("bias", at::zeros({spec.out}))),
      dilation_(spec.dilation) {}

void Convolution::freeze(at::ScalarType dtype, at::MemoryFormat format) {
  frozen_ = kernels::FrozenConvolution(weight, bias, dilation_, dtype, format);
  release_weights();
}

void Convolution::release_weights() {
  weight.set_data(weight.new_empty({0}));
  bias.set_data(bias.new_empty({0}));
}

at::Tensor Convolution::run(const at::Tensor& x, bool relu) {
  if (frozen_.defined()) return frozen_(x, relu);
  return kernels::convolve2d(x, weight, bias, dilation_, relu);
}

MsiNet::MsiNet(MsiNetConfig config) : config_(std::move(config)) {
  validate(config_);
  std::shared_ptr<torch::nn::Module> group;
  std::string group_name;
  for (const auto& layer : layers_of(config_)) {
    if (layer.group != group_name) {
      group_name = layer.group;
      group = register_module(group_name, std::make_shared<torch::nn::Module>());
      if (group_name != "aspp" && group_name != "decoder") stages_.emplace_back();
    }
    auto conv = group->register_module(layer.name, std::make_shared<Convolution>(layer));
    if (group_name == "decoder") {
      decoder_.push_back(std::move(conv));
    } else if (group_name != "aspp") {
      stages_.back().push_back(std::move(conv));
    } else if (layer.name == "conv2") {
      fusion_ = std::move(conv);
    } else {
      branches_.push_back(std::move(conv));
    }
  }
}

at::MemoryFormat MsiNet::format() const {
  return channels_last_ ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
}

void MsiNet::freeze(at::ScalarType dtype) {
  frozen_ = dtype;
  for (const auto& stage : stages_) {
    for (const auto& conv : stage) conv->freeze(dtype, format());
  }
  for (const auto& conv : branches_) conv->freeze(dtype, format());
  for (const auto& conv : decoder_) conv->freeze(dtype, format());
  const auto [local, global] = split_kernel(fusion_->weight, local_width());
  fusion_local_ = kernels::FrozenConvolution(local, {}, 1, dtype, format());
  fusion_global_ = kernels::FrozenConvolution(global, fusion_->bias, 1, dtype, format());
  fusion_->release_weights();
}

std::int64_t MsiNet::local_width() const {
  return config_.aspp_width * static_cast<std::int64_t>(branches_.size() - 1);
}

std::vector<at::Tensor> MsiNet::encode(at::Tensor x) {
  std::vector<at::Tensor> outputs;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    for (const auto& conv : stages_[s]) x = conv->forward_relu(x);
    x = kernels::max_pool(x, config_.encoder[s].stride);
    if (s >= config_.first_tap()) outputs.push_back(x);
  }
  return outputs;
}

/// A 1x1 convolution of the concatenated branches. The global branch has one pixel, so its part of
/// the sum is computed once and broadcast instead of being expanded to (H, W).
at::Tensor MsiNet::fuse(const at::Tensor& local, const at::Tensor& global) {
  if (frozen_) return fusion_local_(local, false).add_(fusion_global_(global, false)).relu_();
  const auto [kernel, rest] = split_kernel(fusion_->weight, local_width());
  const auto constant = at::conv2d(global, rest, fusion_->bias);  // (B, 256, 1, 1)
  return at::conv2d(local, kernel).add(constant).relu_();
}

at::Tensor MsiNet::aspp(const std::vector<at::Tensor>& stages) {
  const auto x = join_channels(stages, format());  // (B, 1280, H/8, W/8)
  std::vector<at::Tensor> local;
  for (std::size_t i = 0; i + 1 < branches_.size(); ++i) {
    local.push_back(branches_[i]->forward_relu(x));
  }
  const auto global = branches_.back()->forward_relu(x.mean({2, 3}, true));  // (B, 256, 1, 1)
  return fuse(join_channels(local, format()), global);
}

at::Tensor MsiNet::decode(at::Tensor x) {
  for (std::size_t i = 0; i + 1 < decoder_.size(); ++i) {
    x = decoder_[i]->forward_relu(upsample_twice(x, config_.upsample));
  }
  return decoder_.back()->forward(x);
}

Taps MsiNet::forward_taps(const at::Tensor& image) {
  const auto side = config_.reduction();
  check(
      image.dim() == 4 && image.size(1) == 3 && image.size(2) > 0 && image.size(3) > 0 &&
          image.size(2) % side == 0 && image.size(3) % side == 0,
      ErrorKind::Input,
      "[msinet.forward] wrong input; got ({}), expected (batch, 3, height, width) with sides that "
      "are multiples of {}.",
      fmt::join(image.sizes().begin(), image.sizes().end(), ", "), side);
  Taps taps;
  taps.stages = encode(subtract_means(image, config_.preprocessing,
                                      frozen_.value_or(fusion_->weight.scalar_type()), format()));
  taps.aspp = aspp(taps.stages);
  taps.decoder = decode(taps.aspp);
  taps.map = min_max(taps.decoder);
  return taps;
}

at::Tensor MsiNet::forward(const at::Tensor& image) { return forward_taps(image).map; }

at::Tensor min_max(const at::Tensor& map) {
  if (!kernels::wants_gradient(map) && map.scalar_type() != at::kDouble &&
      kernels::fused::has_image_kernels(map)) {
    return kernels::fused::stretch(map, kRangeEpsilon);
  }
  const auto values = map.scalar_type() == at::kDouble ? map : map.to(at::kFloat);
  const auto shifted = values - values.amin({1, 2, 3}, true);
  return shifted / (shifted.amax({1, 2, 3}, true) + kRangeEpsilon);
}

}  // namespace ubique::msinet
