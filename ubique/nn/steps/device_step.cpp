// SPDX-License-Identifier: Apache-2.0
// Which networks the kernels can compute, and the order in which they are called.
#include "ubique/nn/steps/device_step.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "ubique/base/error.h"

namespace ubique::nn {
namespace {

constexpr std::int64_t kColumns = 32, kFeatures = 8;  // of the kernels' tiles
constexpr std::int64_t kMostHidden = 4096;            // normed rows are staged whole
constexpr std::int64_t kHeadParts = 256;              // blocks that look for the likeliest token

bool fits(const HostLinear& layer, at::ScalarType dtype) {
  return !layer.quantized && layer.weight.scalar_type() == dtype && layer.in % kColumns == 0 &&
         layer.out % kFeatures == 0;
}

bool fits(const std::vector<HostLinear>& layers, at::ScalarType dtype) {
  return std::ranges::all_of(layers, [dtype](const auto& layer) { return fits(layer, dtype); });
}

bool fits(const HostNetwork& network, std::int64_t rows) {
  const auto dtype = network.tokens.scalar_type();
  const bool plain_positions =
      !network.positions.defined() || network.positions.scalar_type() == dtype;
  return rows <= kernels::kMostDecodeRows && network.hidden <= kMostHidden && plain_positions &&
         network.heads % network.kv_heads == 0 && fits(network.head, dtype) &&
         std::ranges::all_of(network.blocks, [dtype](const auto& block) {
           return fits(block.qkv, dtype) && fits(block.inner, dtype) && fits(block.output, dtype) &&
                  fits(block.down, dtype);
         });
}

kernels::DecodeActivation decode_activation(Activation activation) {
  using Kind = kernels::DecodeActivation;
  return activation == Activation::Silu   ? Kind::Silu
         : activation == Activation::Gelu ? Kind::Gelu
                                          : Kind::GeluTanh;
}

}  // namespace

std::unique_ptr<DeviceStep> DeviceStep::make(HostNetwork network, std::int64_t rows) {
  if (!fits(network, rows) || !kernels::does_decode_step(network.tokens, rows, network.head_size) ||
      !device_step_passes(network, rows)) {
    return nullptr;
  }
  return std::unique_ptr<DeviceStep>(new DeviceStep(std::move(network), rows));
}

DeviceStep::DeviceStep(HostNetwork network, std::int64_t rows)
    : network_(std::move(network)),
      rows_(rows),
      heads_{.heads = network_.heads,
             .kv_heads = network_.kv_heads,
             .size = network_.head_size,
             .by_head = network_.by_head} {
  const auto options = network_.tokens.options();
  const auto make_rows = [&](std::int64_t width) { return at::empty({rows, width}, options); };
  std::int64_t inner = 0;
  for (const auto& block : network_.blocks) inner = std::max(inner, block.inner.front().out);
  x_ = make_rows(network_.hidden);
  attended_ = make_rows(network_.hidden);
  qkv_ = make_rows((network_.heads + 2 * network_.kv_heads) * network_.head_size);
  mixed_ = make_rows(network_.heads * network_.head_size);
  inner_ = make_rows(inner);
  const auto parts =
      std::min(kHeadParts, (network_.head.out + 4 * kFeatures - 1) / (4 * kFeatures));
  best_ = at::empty({parts, rows, 2}, options.dtype(at::kFloat));
}

void DeviceStep::prepare(std::int64_t capacity) {
  if (capacity == capacity_) return;
  scratch_ = kernels::decode_scratch(heads_, rows_, capacity, x_.device());
  capacity_ = capacity;
}

DeviceStepResults DeviceStep::make_results() const {
  const auto f32 = x_.options().dtype(at::kFloat);
  return {.logits = at::empty({rows_, network_.head.out}, f32),
          .likeliest = at::empty({rows_, 2}, f32),
          .next = at::zeros({2, rows_}, f32.dtype(at::kLong))};
}

/// `product` has what is beyond the layers' own tensors and the norm before them.
void DeviceStep::linear(const at::Tensor& x, const HostNormWeights* norm,
                        std::span<const HostLinear> layers, kernels::DecodeProduct product) const {
  std::array<at::Tensor, 3> weights, biases;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    weights.at(i) = layers[i].weight;
    biases.at(i) =
        layers[i].bias.defined() ? layers[i].bias : at::empty({0}, x.options().dtype(at::kFloat));
  }
  product.x = x;
  product.weights = at::TensorList(weights.data(), layers.size());
  product.biases = at::TensorList(biases.data(), layers.size());
  if (norm != nullptr) {
    product.norm = network_.center ? kernels::DecodeNorm::Layer : kernels::DecodeNorm::Rms;
    product.norm_weight = norm->weight;
    product.norm_bias = norm->bias;
    product.epsilon = network_.epsilon;
  }
  kernels::decode_product(product);
}

/// From the norm to the residual stream in `attended_`.
void DeviceStep::attention(const HostBlock& block, const KvCache& cache,
                           const at::Tensor& inputs) const {
  linear(x_, &block.first_norm, block.qkv, {.out = qkv_});
  kernels::decode_attend({.qkv = qkv_,
                          .inputs = inputs,
                          .keys = cache.keys,
                          .values = cache.values,
                          .cos = network_.cos,
                          .sin = network_.sin,
                          .q_norm = block.q_norm,
                          .k_norm = block.k_norm,
                          .partial = scratch_.partial,
                          .counters = scratch_.counters,
                          .mixed = mixed_,
                          .heads = heads_,
                          .window = block.window,
                          .epsilon = network_.epsilon});
  linear(mixed_, nullptr, {&block.output, 1}, {.residual = x_, .out = attended_});
}

void DeviceStep::feed_forward(const HostBlock& block) const {
  const auto& norm = network_.parallel ? block.first_norm : block.second_norm;
  linear(network_.parallel ? x_ : attended_, &norm, block.inner,
         {.gated = block.inner.size() == 2,
          .activation = decode_activation(network_.activation),
          .out = inner_});
  linear(inner_, nullptr, {&block.down, 1}, {.residual = attended_, .out = x_});
}

void DeviceStep::run(const at::Tensor& inputs, std::span<const KvCache> caches,
                     const DeviceStepResults& results) const {
  check(capacity_ == caches.front().capacity(), ErrorKind::Internal,
        "[nn.device_step] caches of {} positions; expected {}, as prepared.",
        caches.front().capacity(), capacity_);
  kernels::decode_embed(inputs, network_.tokens, network_.positions, x_);
  for (std::size_t i = 0; i < network_.blocks.size(); ++i) {
    attention(network_.blocks[i], caches[i], inputs);
    feed_forward(network_.blocks[i]);
  }
  linear(x_, &network_.final_norm, {&network_.head, 1}, {.out = results.logits, .best = best_});
  kernels::decode_choose(best_, inputs, capacity_, results.likeliest, results.next);
}

}  // namespace ubique::nn
