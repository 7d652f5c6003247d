// SPDX-License-Identifier: Apache-2.0
// The modules, and the forward pass in eval mode.
#include "ubique/models/meshnet/net/network.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/kernels/conv/convolve.h"
#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/models/meshnet/net/layer_step.h"

namespace ubique::meshnet {
namespace {

/// Never in place: autograd may save the input or the result.
at::Tensor activate_for_autograd(const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::None:
      return x;
    case Activation::Relu:
      return at::relu(x);
    case Activation::Elu:
      return at::elu(x);
    case Activation::Gelu:
      return at::gelu(x);
    case Activation::GeluTanh:
      return at::gelu(x, "tanh");
  }
  return x;
}

at::Tensor normalize_eval(const at::Tensor& x, const Block& block, Norm norm) {
  if (norm == Norm::None) return x;
  if (norm == Norm::Instance) {
    return at::instance_norm(x, {}, {}, {}, {}, true, 0, kNormEpsilon, false);
  }
  const auto& bn = *block.bn;
  return at::batch_norm(x, bn.weight, bn.bias, bn.running_mean, bn.running_var, false,
                        kNormMomentum, kNormEpsilon, true);
}

}  // namespace

BatchNorm::BatchNorm(std::int64_t channels)
    : weight(register_parameter("weight", at::ones({channels}))),
      bias(register_parameter("bias", at::zeros({channels}))),
      running_mean(register_buffer("running_mean", at::zeros({channels}))),
      running_var(register_buffer("running_var", at::ones({channels}))),
      num_batches_tracked(
          register_buffer("num_batches_tracked", at::zeros({}, at::TensorOptions(at::kLong)))) {}

Convolution::Convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, bool with_bias)
    : weight(register_parameter("weight", at::zeros({out, in, kernel, kernel, kernel}))) {
  if (with_bias) bias = register_parameter("bias", at::zeros({out}));
}

Block::Block(const MeshNetConfig& config, std::size_t index)
    : conv(register_module(
          "conv", std::make_shared<Convolution>(index == 0 ? config.in_channels : config.channels,
                                                config.channels, config.kernel, config.bias))) {
  if (config.norm == Norm::Batch) {
    bn = register_module("bn", std::make_shared<BatchNorm>(config.channels));
  }
}

MeshNet::MeshNet(MeshNetConfig config) : config_(std::move(config)) {
  validate(config_);
  const auto network = register_module("network", std::make_shared<torch::nn::Module>());
  for (std::size_t i = 0; i < config_.layers(); ++i) {
    blocks.push_back(
        network->register_module(std::to_string(i), std::make_shared<Block>(config_, i)));
  }
  classifier = network->register_module(
      std::to_string(config_.layers()),
      std::make_shared<Convolution>(config_.channels, config_.classes, 1, true));
}

at::Tensor MeshNet::forward(const at::Tensor& image) {
  check(image.dim() == 5 && image.size(1) == config_.in_channels, ErrorKind::Input,
        "[meshnet.forward] wrong input; got {} dimensions and {} channels, expected "
        "(batch, {}, depth, height, width).",
        image.dim(), image.dim() > 1 ? image.size(1) : 0, config_.in_channels);
  return is_training() ? training_forward(*this, image) : forward_eval(image);
}

at::Tensor MeshNet::forward_eval(const at::Tensor& image) {
  auto x = image.to(classifier->weight.scalar_type());
  if (options_.channels_last) x = x.contiguous(at::MemoryFormat::ChannelsLast3d);
  const bool recorded = at::GradMode::is_enabled();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& conv = *blocks[i]->conv;
    const auto dilation = config_.dilations[i];
    const auto bias = conv.bias.defined() ? std::optional(conv.bias) : std::nullopt;
    x = at::conv3d(x, conv.weight, bias, 1, dilation * (config_.kernel / 2), dilation);
    x = normalize_eval(x, *blocks[i], config_.norm);
    x = recorded ? activate_for_autograd(x, config_.activation)
                 : kernels::activate(std::move(x), config_.activation);
  }
  return at::conv3d(x, classifier->weight, classifier->bias);
}

}  // namespace ubique::meshnet
