// SPDX-License-Identifier: Apache-2.0
// Xavier and Kaiming initialisation. Every convolution has its own random stream, numbered by its
// layer: its weights depend on neither the device nor the other layers.
#include "ubique/models/meshnet/net/init.h"

#include <ATen/ATen.h>

#include <cmath>
#include <span>

#include "ubique/models/meshnet/net/network.h"

namespace ubique::meshnet {
namespace {

/// Standard deviation for a weight (O, I, k, k, k) in front of a ReLU, whose gain is √2.
double weight_deviation(const at::Tensor& weight, Init init) {
  const auto taps = weight.numel() / (weight.size(0) * weight.size(1));
  const auto fan_in = static_cast<double>(weight.size(1) * taps);
  const auto fan_out = static_cast<double>(weight.size(0) * taps);
  return init == Init::Xavier ? 2 / std::sqrt(fan_in + fan_out) : std::sqrt(2 / fan_out);
}

void fill_from_host(at::Tensor& target, const Random& random, double deviation) {
  auto values = at::empty(target.sizes(), at::TensorOptions(at::kFloat));
  random.fill_normal({values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                     0, static_cast<float>(deviation));
  target.copy_(values);
}

void initialize_convolution(Convolution& conv, Init init, const Random& random) {
  fill_from_host(conv.weight, random, weight_deviation(conv.weight, init));
  if (conv.bias.defined()) conv.bias.zero_();
}

}  // namespace

void initialize(MeshNet& network, const Random& random) {
  const at::NoGradGuard no_gradients;
  const auto init = network.config().init;
  for (std::size_t i = 0; i < network.blocks.size(); ++i) {
    initialize_convolution(*network.blocks[i]->conv, init, random.fork(i));
    if (!network.blocks[i]->bn) continue;
    auto& bn = *network.blocks[i]->bn;
    bn.weight.fill_(1);
    bn.bias.zero_();
    bn.running_mean.zero_();
    bn.running_var.fill_(1);
    bn.num_batches_tracked.zero_();
  }
  initialize_convolution(*network.classifier, init, random.fork(network.blocks.size()));
}

}  // namespace ubique::meshnet
