// SPDX-License-Identifier: Apache-2.0
// Parameters under the original names, the blocks, and the recursion of a supervision step.
#include "ubique/models/trm/net/network.h"

#include <ATen/ATen.h>

#include <cmath>

#include "ubique/nn/layers/attention.h"
#include "ubique/nn/layers/parameter_tree.h"
#include "ubique/nn/layers/rope.h"

namespace ubique::trm {
namespace {

constexpr const char* kInner = "model.inner.";
constexpr double kInverseSqrt2 =
    0.707106781;  // keeps the variance of a sum of two, as in the original

at::Tensor add_parameter(torch::nn::Module& root, const std::string& name, at::IntArrayRef shape) {
  return nn::add_parameter(root, kInner + name, at::zeros(shape));
}

at::Tensor add_buffer(torch::nn::Module& root, const std::string& name, at::IntArrayRef shape) {
  return nn::add_buffer(root, kInner + name, at::zeros(shape));
}

}  // namespace

Trm::Trm(TrmConfig config) : config_(std::move(config)) {
  validate(config_);
  const auto h = config_.hidden_size, length = config_.length(), vocab = config_.vocab_size;
  const auto add = [this](const std::string& name, at::IntArrayRef shape) {
    return add_parameter(*this, name, shape);
  };
  const auto table = config_.puzzle_emb_ndim;
  tokens_ = add("embed_tokens.embedding_weight", {vocab, h});
  head_ = add("lm_head.weight", {vocab, h});
  halt_ = add("q_head.weight", {2, h});
  halt_bias_ = add("q_head.bias", {2});
  if (table > 0) {
    puzzle_table_ =
        add_buffer(*this, "puzzle_emb.weights", {config_.num_puzzle_identifiers, table});
  }
  if (config_.positions == Positions::Learned) {
    positions_ = add("embed_pos.embedding_weight", {length, h});
  }
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    const auto layer = fmt::format("L_level.layers.{}.", i);
    auto& block = blocks_.emplace_back();
    if (config_.mlp_t) {
      const auto inner = config_.inner_size(length);
      block.token_gate_up = add(layer + "mlp_t.gate_up_proj.weight", {2 * inner, length});
      block.token_down = add(layer + "mlp_t.down_proj.weight", {length, inner});
    } else {
      block.qkv = add(layer + "self_attn.qkv_proj.weight", {3 * h, h});
      block.out = add(layer + "self_attn.o_proj.weight", {h, h});
    }
    const auto inner = config_.inner_size(h);
    block.gate_up = add(layer + "mlp.gate_up_proj.weight", {2 * inner, h});
    block.down = add(layer + "mlp.down_proj.weight", {h, inner});
  }
  high_start_ = add_buffer(*this, "H_init", {h});
  low_start_ = add_buffer(*this, "L_init", {h});
}

void Trm::set_activations(kernels::Activations tokens, kernels::Activations channels) {
  token_activations_ = tokens;
  channel_activations_ = channels;
}

at::Tensor Trm::puzzle_rows(const at::Tensor& ids) const {
  return puzzle_table_.defined() ? puzzle_table_.index_select(0, ids) : at::Tensor();
}

TrmWeights Trm::cast(at::ScalarType dtype) const {
  TrmWeights weights;
  weights.dtype = dtype;
  weights.tokens = {tokens_, dtype};
  weights.head = {head_, dtype};
  weights.halt = {halt_, dtype};
  weights.halt_bias = {halt_bias_, dtype};
  if (positions_.defined()) weights.positions = {positions_, dtype};
  weights.high_start = high_start_.to(dtype);
  weights.low_start = low_start_.to(dtype);
  if (config_.positions == Positions::Rope) {
    if (!rope_cos_.defined() || rope_cos_.device() != tokens_.device()) {
      std::tie(rope_cos_, rope_sin_) =
          nn::rope_tables(config_.length(), config_.head_size(), tokens_.device());
    }
    weights.rope_cos = rope_cos_;
    weights.rope_sin = rope_sin_;
  }
  for (const auto& block : blocks_) {
    auto& cast = weights.blocks.emplace_back();
    if (config_.mlp_t) {
      cast.tokens = {{block.token_gate_up, dtype}, {block.token_down, dtype}, {}, {}};
      kernels::pack_for_token_mlp(cast.tokens, config_.hidden_size);
    } else {
      cast.qkv = {block.qkv, dtype};
      cast.out = {block.out, dtype};
    }
    cast.channels = {{block.gate_up, dtype}, {block.down, dtype}, {}, {}};
    kernels::pack_for_swiglu(cast.channels);
    if (config_.mlp_t) weights.small_batch.add(cast.tokens, cast.channels);
  }
  return weights;
}

at::Tensor Trm::embed(const TrmWeights& weights, const at::Tensor& inputs,
                      const at::Tensor& rows) const {
  auto x = at::embedding(weights.tokens.use(), inputs);  // (B, S, H)
  if (const auto prefix = config_.prefix(); prefix > 0) {
    const auto room = prefix * config_.hidden_size;
    const auto padded = at::constant_pad_nd(rows.to(weights.dtype), {0, room - rows.size(1)});
    x = at::cat({padded.view({rows.size(0), prefix, config_.hidden_size}), x}, 1);  // (B, L, H)
  }
  if (weights.positions.parameter.defined()) x = (x + weights.positions.use()) * kInverseSqrt2;
  return x * std::sqrt(static_cast<double>(config_.hidden_size));
}

Latents Trm::start(const TrmWeights& weights, std::int64_t batch) const {
  const auto spread = [&](const at::Tensor& vector) {
    return vector.expand({batch, config_.length(), config_.hidden_size}).contiguous();
  };
  return {spread(weights.high_start), spread(weights.low_start)};
}

at::Tensor Trm::block(const TrmWeights& weights, std::size_t index, const at::Tensor& x) const {
  const auto& block = weights.blocks[index];
  const nn::AttentionConfig attention{.heads = config_.num_heads,
                                      .causal = config_.causal,
                                      .cos = weights.rope_cos,
                                      .sin = weights.rope_sin};
  const auto mixed = config_.mlp_t ? kernels::token_mlp_block(x, block.tokens, token_activations_)
                                   : nn::attention_block(x, block.qkv, block.out, attention);
  return kernels::swiglu_block(mixed, block.channels, channel_activations_);
}

at::Tensor Trm::call(const TrmWeights& weights, const at::Tensor& h,
                     const at::Tensor& injected) const {
  auto x = h + injected;
  for (std::size_t i = 0; i < weights.blocks.size(); ++i) x = block(weights, i, x);
  return x;
}

at::Tensor Trm::calls(const TrmWeights& weights, at::Tensor h, const at::Tensor& injected,
                      std::int64_t times) const {
  if (weights.small_batch.takes(h)) return weights.small_batch.call(h, injected, times);
  for (std::int64_t i = 0; i < times; ++i) h = call(weights, h, injected);
  return h;
}

void Trm::round(const TrmWeights& weights, const at::Tensor& x, Latents& latents) const {
  const auto injected = latents.high + x;
  latents.low = calls(weights, latents.low, injected, config_.low_cycles);
  latents.high = calls(weights, latents.high, latents.low, 1);
}

Answer Trm::step(const TrmWeights& weights, const at::Tensor& x, Latents& latents) const {
  {
    const at::NoGradGuard no_gradients;
    for (std::int64_t i = 0; i + 1 < config_.high_cycles; ++i) round(weights, x, latents);
  }
  round(weights, x, latents);
  const auto tokens = latents.high.slice(1, config_.prefix());  // (B, S, H)
  Answer answer;
  answer.logits = at::linear(tokens, weights.head.use());
  answer.halt = at::linear(latents.high.select(1, 0), weights.halt.use(), weights.halt_bias.use())
                    .to(at::kFloat);
  latents = {latents.high.detach(), latents.low.detach()};
  return answer;
}

}  // namespace ubique::trm
