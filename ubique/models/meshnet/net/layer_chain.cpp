// SPDX-License-Identifier: Apache-2.0
// The chain's forward and backward, and the peak of its memory counted without computing.
#include "ubique/models/meshnet/net/layer_chain.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ubique/kernels/conv/convolve.h"
#include "ubique/models/meshnet/net/sync_norm.h"

namespace ubique::meshnet {

namespace {

std::int64_t count_alive(const std::vector<bool>& outputs) {
  return std::count(outputs.begin(), outputs.end(), true);
}

}  // namespace

bool chain_saves(std::int64_t layer, std::int64_t layers, std::int64_t segments) {
  if (segments == 0) return true;
  for (std::int64_t part = 1; part < segments; ++part) {
    if (layer == part * layers / segments) return layer > 0;
  }
  return false;
}

std::int64_t chain_peak(std::int64_t layers, std::int64_t segments) {
  std::vector<bool> outputs;
  for (std::int64_t i = 0; i < layers; ++i) outputs.push_back(chain_saves(i, layers, segments));
  // End of forward: the last output, saved or not, and its norm and activation.
  std::int64_t peak = count_alive(outputs) + (outputs.back() ? 1 : 2);
  for (std::int64_t i = layers; i-- > 0;) {
    const std::int64_t gradient = i + 1 < layers ? 1 : 0;  // needs.cpp counts the logits' gradient
    for (auto known = i; known >= 0 && !outputs[static_cast<std::size_t>(known)]; --known) {
      outputs[static_cast<std::size_t>(known)] = true;
    }
    // Recomputed outputs, the activated one, its gradient, and the gradient it is computed from.
    peak = std::max(peak, count_alive(outputs) + 2 + gradient);
    outputs[static_cast<std::size_t>(i)] = false;
  }
  return peak;
}

using kernels::convolve;
using kernels::norm_act_recompute;

Chain::Chain(std::vector<ChainLayer> layers, std::int64_t segments, engine::PassSums* sums)
    : layers_(std::move(layers)), segments_(segments), sums_(sums) {}

at::Tensor Chain::normed(const at::Tensor& output, std::size_t layer) {
  const auto& after = layers_[layer].after;
  if (sums_ != nullptr) return sync_norm_act(output, after, statistics_[layer], *sums_, values_);
  return kernels::norm_act(output, after, statistics_[layer]);
}

kernels::NormActGradients Chain::normed_backward(at::Tensor gradient, at::Tensor result,
                                                 std::size_t layer) {
  const auto& x = outputs_[layer];
  const auto& after = layers_[layer].after;
  if (sums_ != nullptr) {
    return sync_norm_act_backward(std::move(gradient), std::move(result), x, after,
                                  statistics_[layer], *sums_, values_);
  }
  return kernels::norm_act_backward(std::move(gradient), std::move(result), x, after,
                                    statistics_[layer]);
}

bool Chain::saves(std::size_t layer) const {
  return chain_saves(static_cast<std::int64_t>(layer),
                     static_cast<std::int64_t>(layers_.size()) - 1, segments_);
}

at::Tensor Chain::forward(at::Tensor image, bool save) {
  const auto last = layers_.size() - 1;
  outputs_.assign(last, {});
  statistics_.assign(last, {});
  values_ = image.numel() / image.size(1);
  if (save) image_ = image;
  auto x = std::move(image);
  for (std::size_t i = 0; i < last; ++i) {
    auto y = convolve(x, layers_[i].weight, layers_[i].bias, layers_[i].dilation);
    x.reset();  // before the next tensor of its size is allocated
    x = normed(y, i);
    if (save && saves(i)) outputs_[i] = std::move(y);
  }
  return convolve(x, layers_[last].weight, layers_[last].bias, layers_[last].dilation);
}

const at::Tensor& Chain::output(std::size_t layer) {
  auto known = layer + 1;  // the first output to recompute, from a saved one or the image
  while (known > 0 && !outputs_[known - 1].defined()) --known;
  for (; known <= layer; ++known) {
    const auto x = known == 0 ? image_
                              : norm_act_recompute(outputs_[known - 1], layers_[known - 1].after,
                                                   statistics_[known - 1]);
    outputs_[known] =
        convolve(x, layers_[known].weight, layers_[known].bias, layers_[known].dilation);
  }
  return outputs_[layer];
}

std::vector<ChainGradients> Chain::backward(at::Tensor gradient) {
  std::vector<ChainGradients> result(layers_.size());
  for (auto i = layers_.size(); i-- > 0;) {
    auto x = i == 0 ? image_
                    : norm_act_recompute(output(i - 1), layers_[i - 1].after, statistics_[i - 1]);
    auto of =
        kernels::convolve_backward(gradient, x, layers_[i].weight, layers_[i].dilation,
                                   {i > 0 || wants_image_gradient, layers_[i].bias.defined()});
    result[i].weight = of.weight;
    result[i].bias = of.bias;
    gradient = std::move(of.input);
    if (i == 0) break;
    auto before = normed_backward(std::move(gradient), std::move(x), i - 1);
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
