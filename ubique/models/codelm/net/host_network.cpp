// SPDX-License-Identifier: Apache-2.0
// The network as decoding steps of our own read it.
#include "ubique/nn/decode/host_network.h"

#include <ATen/ATen.h>

#include "ubique/models/codelm/net/network.h"

namespace ubique::codelm {
namespace {

at::Tensor small_f32(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.detach().to(at::kFloat).contiguous() : tensor;
}

nn::HostNormWeights host_norm(const NormWeights& norm) {
  return {small_f32(norm.weight), small_f32(norm.bias)};
}

/// Appends those that the block has; false for one that cannot be read.
bool add_layers(std::initializer_list<const nn::LinearWeights*> layers,
                std::vector<nn::HostLinear>& to) {
  for (const auto* weights : layers) {
    if (!weights->weight.defined()) continue;
    const auto layer = nn::host_linear(*weights);
    if (!layer) return false;
    to.push_back(*layer);
  }
  return true;
}

bool read_block(const BlockWeights& weights, nn::HostBlock& block) {
  block.first_norm = host_norm(weights.first_norm);
  block.second_norm = host_norm(weights.second_norm);
  block.q_norm = small_f32(weights.q_norm);
  block.k_norm = small_f32(weights.k_norm);
  std::vector<nn::HostLinear> ends;
  const bool known = add_layers({&weights.qkv, &weights.q, &weights.k, &weights.v}, block.qkv) &&
                     add_layers({&weights.gate, &weights.up}, block.inner) &&
                     add_layers({&weights.output, &weights.down}, ends);
  if (!known) return false;
  block.output = ends.at(0);
  block.down = ends.at(1);
  return true;
}

}  // namespace

std::optional<nn::HostNetwork> Codelm::host_network() const {
  const auto dtype = weights_.tokens.scalar_type();
  const bool known = dtype == at::kFloat || dtype == at::kBFloat16;
  return weights_.tokens.is_cpu() && known ? decoding_network() : std::nullopt;
}

std::optional<nn::HostNetwork> Codelm::decoding_network() const {
  nn::HostNetwork network{.hidden = config_.hidden,
                          .heads = config_.heads,
                          .kv_heads = config_.kv_heads,
                          .head_size = config_.head_size,
                          .center = config_.norm == NormKind::Layer,
                          .epsilon = config_.norm_eps,
                          .activation = config_.activation,
                          .gated = config_.gated,
                          .parallel = config_.parallel,
                          .by_head = config_.fused_qkv && config_.kv_heads > 1,
                          .tokens = weights_.tokens.detach(),
                          .final_norm = host_norm(weights_.final_norm)};
  make_rope_tables(weights_.tokens.device());
  if (config_.rotary_size > 0) network.cos = cos_, network.sin = sin_;
  if (weights_.positions.defined()) network.positions = weights_.positions.detach();
  const auto last = nn::host_linear(
      {.weight = head(), .bias = head_bias(), .adapters = {}, .quantized = quantized_head_});
  if (!last) return std::nullopt;
  network.head = *last;
  for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
    nn::HostBlock block{.window = config_.window_of(static_cast<std::int64_t>(i))};
    if (!read_block(weights_.blocks[i], block)) return std::nullopt;
    network.blocks.push_back(std::move(block));
  }
  return network;
}

}  // namespace ubique::codelm
