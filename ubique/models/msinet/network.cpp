// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/msinet/network.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/models/msinet/preprocess.h"
#include "ubique/models/msinet/upsample.h"

namespace ubique::msinet {
namespace {

constexpr double kRangeEpsilon = 1e-7;

/// Over 2x2. Where the size stays, the windows reach beyond the right and lower edges only; zeros
/// there change nothing, since all values have come through a ReLU.
at::Tensor pool(const at::Tensor& x, std::int64_t stride) {
  if (stride == 2) return at::max_pool2d(x, 2, 2);
  return at::max_pool2d(at::constant_pad_nd(x, {0, 1, 0, 1}), 2, 1);
}

}  // namespace

Convolution::Convolution(const LayerSpec& spec)
    : weight(
          register_parameter("weight", at::zeros({spec.out, spec.in, spec.kernel, spec.kernel}))),
      bias(register_parameter("bias", at::zeros({spec.out}))),
      padding_(spec.dilation * (spec.kernel / 2)),
      dilation_(spec.dilation) {}

at::Tensor Convolution::forward(const at::Tensor& x) const {
  return at::conv2d(x, weight, bias, 1, padding_, dilation_);
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
      mixture_ = std::move(conv);
    } else {
      branches_.push_back(std::move(conv));
    }
  }
}

std::vector<at::Tensor> MsiNet::encode(at::Tensor x) const {
  std::vector<at::Tensor> seen;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    for (const auto& conv : stages_[s]) x = conv->forward_relu(x);
    x = pool(x, config_.encoder[s].stride);
    if (s >= config_.first_tap()) seen.push_back(x);
  }
  return seen;
}

/// The mixture of all branches is a 1x1 convolution of what they give, put together. The global
/// branch gives one pixel, and its part of that sum is added as one.
at::Tensor MsiNet::pyramid(const std::vector<at::Tensor>& stages) const {
  const auto x = at::cat(stages, 1);  // (B, 1280, H/8, W/8)
  std::vector<at::Tensor> local;
  for (std::size_t i = 0; i + 1 < branches_.size(); ++i) {
    local.push_back(branches_[i]->forward_relu(x));
  }
  const auto global = branches_.back()->forward_relu(x.mean({2, 3}, true));  // (B, 256, 1, 1)
  const auto width = config_.aspp_width * static_cast<std::int64_t>(local.size());
  const auto kernel = mixture_->weight.slice(1, 0, width).contiguous();
  const auto rest = mixture_->weight.slice(1, width).contiguous();
  const auto everywhere = at::conv2d(global, rest, mixture_->bias);
  return at::conv2d(at::cat(local, 1), kernel).add(everywhere).relu_();
}

at::Tensor MsiNet::decode(at::Tensor x) const {
  for (std::size_t i = 0; i + 1 < decoder_.size(); ++i) {
    x = decoder_[i]->forward_relu(upsample_twice(x, config_.upsample));
  }
  return decoder_.back()->forward(x);
}

Taps MsiNet::forward_taps(const at::Tensor& image) const {
  const auto side = config_.reduction();
  check(
      image.dim() == 4 && image.size(1) == 3 && image.size(2) > 0 && image.size(3) > 0 &&
          image.size(2) % side == 0 && image.size(3) % side == 0,
      ErrorKind::Input,
      "[msinet.forward] wrong input; got ({}), expected (batch, 3, height, width) with sides that "
      "are multiples of {}.",
      fmt::join(image.sizes().begin(), image.sizes().end(), ", "), side);
  const auto format =
      channels_last_ ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  Taps taps;
  taps.stages =
      encode(subtract_means(image, config_.preprocessing, mixture_->weight.scalar_type(), format));
  taps.aspp = pyramid(taps.stages);
  taps.decoder = decode(taps.aspp);
  taps.map = min_max(taps.decoder);
  return taps;
}

at::Tensor MsiNet::forward(const at::Tensor& image) const { return forward_taps(image).map; }

at::Tensor min_max(const at::Tensor& map) {
  const auto values = map.scalar_type() == at::kDouble ? map : map.to(at::kFloat);
  const auto shifted = values - values.amin({1, 2, 3}, true);
  return shifted / (shifted.amax({1, 2, 3}, true) + kRangeEpsilon);
}

}  // namespace ubique::msinet
