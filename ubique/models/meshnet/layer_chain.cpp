// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/meshnet/layer_chain.h"

#include <ATen/ATen.h>

#include <utility>

#include "ubique/kernels/convolve.h"
#include "ubique/models/meshnet/layer_peak.h"

namespace ubique::meshnet {

using kernels::convolve;
using kernels::norm_act_again;

Chain::Chain(std::vector<ChainLayer> layers, std::int64_t segments)
    : layers_(std::move(layers)), segments_(segments) {}

bool Chain::keeps(std::size_t layer) const {
  return chain_keeps(static_cast<std::int64_t>(layer),
                     static_cast<std::int64_t>(layers_.size()) - 1, segments_);
}

at::Tensor Chain::forward(at::Tensor image, bool keep) {
  const auto last = layers_.size() - 1;
  outputs_.assign(last, {});
  statistics_.assign(last, {});
  if (keep) image_ = image;
  auto x = std::move(image);
  for (std::size_t i = 0; i < last; ++i) {
    auto y = convolve(x, layers_[i].weight, layers_[i].bias, layers_[i].dilation);
    x.reset();  // before the next one of its size is made
    x = kernels::norm_act(y, layers_[i].after, statistics_[i]);
    if (keep && keeps(i)) outputs_[i] = std::move(y);
  }
  return convolve(x, layers_[last].weight, layers_[last].bias, layers_[last].dilation);
}

const at::Tensor& Chain::output(std::size_t layer) {
  auto known = layer + 1;  // outputs below this one are known, from a kept one or the image
  while (known > 0 && !outputs_[known - 1].defined()) --known;
  for (; known <= layer; ++known) {
    const auto x = known == 0 ? image_
                              : norm_act_again(outputs_[known - 1], layers_[known - 1].after,
                                               statistics_[known - 1]);
    outputs_[known] =
        convolve(x, layers_[known].weight, layers_[known].bias, layers_[known].dilation);
  }
  return outputs_[layer];
}

std::vector<ChainGradients> Chain::backward(at::Tensor gradient) {
  std::vector<ChainGradients> result(layers_.size());
  for (auto i = layers_.size(); i-- > 0;) {
    auto x =
        i == 0 ? image_ : norm_act_again(output(i - 1), layers_[i - 1].after, statistics_[i - 1]);
    auto of =
        kernels::convolve_backward(gradient, x, layers_[i].weight, layers_[i].dilation,
                                   {i > 0 || wants_image_gradient, layers_[i].bias.defined()});
    result[i].weight = of.weight;
    result[i].bias = of.bias;
    gradient = std::move(of.input);
    if (i == 0) break;
    auto before = kernels::norm_act_backward(std::move(gradient), std::move(x), outputs_[i - 1],
                                             layers_[i - 1].after, statistics_[i - 1]);
    outputs_[i - 1].reset();
    result[i - 1].norm_weight = before.weight;
    result[i - 1].norm_bias = before.bias;
    gradient = std::move(before.input);
  }
  image_gradient = std::move(gradient);
  clear();
  return result;
}

void Chain::clear() {
  image_.reset();
  outputs_.clear();
  statistics_.clear();
}

}  // namespace ubique::meshnet
