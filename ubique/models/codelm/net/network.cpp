// SPDX-License-Identifier: Apache-2.0
// Embedding, blocks and head; passes over whole sequences and over new positions with KV caches.
#include "ubique/models/codelm/net/network.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <optional>
#include <tuple>

#include "ubique/engine/step/recompute.h"
#include "ubique/kernels/decoder/head_product.h"
#include "ubique/kernels/decoder/wide_product.h"
#include "ubique/kernels/quant/quantized_linear.h"
#include "ubique/nn/layers/mlp.h"
#include "ubique/nn/layers/rope.h"

namespace ubique::codelm {

/// What the layers of one pass share.
struct Codelm::Pass {
  PassOptions options = {};
  nn::AttentionMask mask = {}, window_mask = {};  // of layers without and with a window
  at::Tensor cos = {}, sin = {};                  // (B or 1, 1, n, r)
  std::vector<nn::KvCache>* caches = nullptr;
  nn::NewPositions places = {};               // with caches
  std::optional<at::ScalarType> narrow = {};  // in which each block casts its weights at once
  bool adds_bias = false;  // the residual sum adds the biases of the branches' last layers
};

namespace {

at::Tensor dropped(const at::Tensor& x, double share, bool training) {
  return training && share > 0 ? at::dropout(x, share, true) : x;
}

/// (B, n, count·size) to (B, count, n, size).
at::Tensor split_heads(const at::Tensor& product, std::int64_t count) {
  return product.unflatten(-1, {count, -1}).transpose(1, 2);
}

/// The hidden values of the MLP of every so many blocks are computed again in the backward pass:
/// they are the largest that are kept, and cost a quarter of a pass over them.
constexpr std::size_t kRecomputedEach = 4;

/// The same weights, with those of linear layers cast for one pass.
BlockWeights narrowed(BlockWeights weights, at::ScalarType dtype) {
  nn::narrow_weights({&weights.qkv, &weights.q, &weights.k, &weights.v, &weights.output,
                      &weights.gate, &weights.up, &weights.down},
                     dtype);
  return weights;
}

}  // namespace

Codelm::Codelm(CodelmConfig config) : config_(std::move(config)) {
  weights_.blocks.resize(static_cast<std::size_t>(config_.layers));
  create(at::TensorOptions(at::kFloat));
}

nn::Normed Codelm::add_norm(const at::Tensor& residual, const kernels::Branch& branch,
                            const NormWeights& weights) const {
  return nn::add_norm(residual, branch, weights.weight, weights.bias,
                      {.center = config_.norm == NormKind::Layer, .epsilon = config_.norm_eps});
}

at::Tensor Codelm::embed(const at::Tensor& ids, const at::Tensor& positions, double dropout) const {
  auto x = at::embedding(weights_.tokens, ids);  // (B, T, H)
  if (weights_.positions.defined()) x = x + at::embedding(weights_.positions, positions);
  return dropped(x, dropout, dropout > 0);
}

void Codelm::make_rope_tables(c10::Device device) const {
  if (config_.rotary_size == 0 || (cos_.defined() && cos_.device() == device)) return;
  const c10::InferenceMode plain(false);  // a later training pass uses the tables too
  std::tie(cos_, sin_) = nn::rope_tables(config_.context, config_.rotary_size, device,
                                         config_.rope_theta, config_.rope_scaling);
}

void Codelm::set_rope(const at::Tensor& positions, Pass& pass) const {
  if (config_.rotary_size == 0) return;
  make_rope_tables(positions.device());
  const auto rows = [&](const at::Tensor& table) {
    return at::embedding(table, positions).unsqueeze(1);  // (B, 1, T, r)
  };
  pass.cos = rows(cos_);
  pass.sin = rows(sin_);
}

/// Queries (B, heads, n, size), keys and values (B, kv heads, n, size), rotated.
std::tuple<at::Tensor, at::Tensor, at::Tensor> Codelm::project(const BlockWeights& weights,
                                                               const at::Tensor& x,
                                                               const Pass& pass) const {
  at::Tensor q, k, v;
  const auto size = config_.head_size;
  const bool training = pass.options.training;
  if (!config_.fused_qkv) {
    q = split_heads(nn::linear(x, weights.q, training), config_.heads);
    k = split_heads(nn::linear(x, weights.k, training), config_.kv_heads);
    v = split_heads(nn::linear(x, weights.v, training), config_.kv_heads);
  } else if (config_.kv_heads == 1 && weights.qkv.narrow.defined()) {
    const auto parts =
        kernels::head_product(nn::cast_input(x, weights.qkv), nn::cast_weight(weights.qkv),
                              weights.qkv.bias, {config_.heads, 1, 1});
    q = parts[0], k = parts[1], v = parts[2];
  } else if (config_.kv_heads == 1) {
    const auto product = nn::linear(x, weights.qkv, training);  // queries of all heads, key, value
    const auto parts = product.split_with_sizes({config_.heads * size, size, size}, -1);
    q = split_heads(parts[0], config_.heads);
    k = split_heads(parts[1], 1);
    v = split_heads(parts[2], 1);
  } else {
    const auto product = nn::linear(x, weights.qkv, training);  // head by head: query, key, value
    const auto parts = split_heads(product, config_.heads).chunk(3, -1);
    q = parts[0], k = parts[1], v = parts[2];
  }
  if (weights.q_norm.defined()) {
    q = nn::rms_norm(q, weights.q_norm, config_.norm_eps);
    k = nn::rms_norm(k, weights.k_norm, config_.norm_eps);
  }
  if (pass.cos.defined()) {
    q = nn::apply_rope(q, pass.cos, pass.sin);
    k = nn::apply_rope(k, pass.cos, pass.sin);
  }
  return {q, k, v};
}

kernels::Branch Codelm::attend(const BlockWeights& weights, std::size_t layer, const at::Tensor& x,
                               const Pass& pass) const {
  auto [q, k, v] = project(weights, x, pass);
  if (pass.caches != nullptr) {
    auto& cache = pass.caches->at(layer);
    cache.store(k, v, pass.places);
    const auto seen = cache.read(pass.places.extent);
    k = seen.keys;
    v = seen.values;
  }
  const bool windowed = config_.window_of(static_cast<std::int64_t>(layer)) > 0;
  const auto dropout = pass.options.training ? config_.dropouts.attention : 0;
  const auto mixed =
      nn::masked_attention(q, k, v, windowed ? pass.window_mask : pass.mask, dropout);
  return nn::linear_branch(mixed.transpose(1, 2).flatten(2), weights.output,
                           {.training = pass.options.training, .leaves_bias = pass.adds_bias});
}

kernels::Branch Codelm::feed_forward(const BlockWeights& weights, std::size_t layer,
                                     const at::Tensor& x, const Pass& pass) const {
  const bool training = pass.options.training;
  if (config_.gated) {
    return {nn::gated_mlp(x, weights.gate, weights.up, weights.down, config_.activation, training)};
  }
  return nn::mlp_branch(x, weights.up, weights.down, config_.activation,
                        {.training = training,
                         .leaves_bias = pass.adds_bias,
                         .keeps_hidden = layer % kRecomputedEach != 0});
}

/// The last branch is added by whoever reads the stream: together with its norm, where the device
/// has both in one kernel.
Codelm::Stream Codelm::block(std::size_t layer, const Stream& x, const Pass& pass) const {
  const auto& given = weights_.blocks[layer];
  const auto cast = pass.narrow ? std::optional(narrowed(given, *pass.narrow)) : std::nullopt;
  const auto& weights = cast ? *cast : given;
  const auto drop = [&](kernels::Branch branch) {
    branch.value = dropped(branch.value, config_.dropouts.residual, pass.options.training);
    return branch;
  };
  const auto first = add_norm(x.sum, x.branch, weights.first_norm);
  const auto attended = drop(attend(weights, layer, first.normed, pass));
  if (config_.parallel) {
    return {nn::added(first.sum, attended), drop(feed_forward(weights, layer, first.normed, pass))};
  }
  const auto second = add_norm(first.sum, attended, weights.second_norm);
  return {second.sum, drop(feed_forward(weights, layer, second.normed, pass))};
}

/// Gradients of whole weights under autocast: where the device has kernels for parts of it.
void Codelm::choose_kernels(const at::Tensor& embedded, Pass& pass) const {
  const auto dtype = nn::product_dtype(embedded);
  if (!at::GradMode::is_enabled() || dtype == embedded.scalar_type()) return;
  if (!kernels::does_wide_product(at::empty({1}, embedded.options().dtype(dtype)))) return;
  pass.narrow = dtype;
  const bool drops = pass.options.training && config_.dropouts.residual > 0;
  pass.adds_bias = !drops && !config_.parallel && kernels::does_add_norm(embedded, dtype);
}

at::Tensor Codelm::run_blocks(const at::Tensor& embedded, const Pass& pass) const {
  Stream x{embedded, {}};
  for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
    const bool twice = pass.options.recompute || pass.options.split != nullptr;
    if (twice && at::GradMode::is_enabled()) {
      const auto held = pass;  // the block is computed again after this pass has ended
      const auto whole_block = [this, i, held](const auto& in) {
        const auto out = block(i, {in[0], {}}, held);
        return nn::added(out.sum, out.branch);
      };
      const auto hold = [held, i] { return held.options.split->hold(i); };
      x = {engine::recompute(whole_block, {x.sum}, held.options.split ? hold : engine::Hold()), {}};
    } else {
      x = block(i, x, pass);
    }
  }
  return add_norm(x.sum, x.branch, weights_.final_norm).normed;
}

void Codelm::set_masks(const at::Tensor& ids, const DocumentLayout& documents, Pass& pass) const {
  const auto length = ids.size(1);
  const bool whole_rows = !documents.numbers.defined();  // each is one document
  const auto mask_of = [&](std::int64_t window) {
    if (pass.options.packed && (whole_rows || documents.starts.defined())) {
      return nn::packed_mask(documents.starts, window);
    }
    return documents.numbers.defined()
               ? nn::document_mask(documents.numbers, window)
               : nn::causal_mask(length, length, window, ids.device(), pass.options.explicit_mask);
  };
  pass.mask = mask_of(0);
  if (config_.window > 0) pass.window_mask = mask_of(config_.window);
}

at::Tensor Codelm::forward(const at::Tensor& ids, const at::Tensor& positions,
                           const DocumentLayout& documents, const PassOptions& options) const {
  Pass pass{.options = options};
  set_masks(ids, documents, pass);
  set_rope(positions, pass);
  const auto dropout = options.training ? config_.dropouts.embedding : 0;
  const auto embedded = embed(ids, positions, dropout);
  choose_kernels(embedded, pass);
  return run_blocks(embedded, pass);
}

at::Tensor Codelm::forward_cached(const at::Tensor& ids, const nn::NewPositions& places,
                                  std::vector<nn::KvCache>& caches,
                                  const PassOptions& options) const {
  Pass pass{.options = options, .caches = &caches, .places = places};
  pass.mask = nn::cached_mask(places, 0, options.explicit_mask);
  if (config_.window > 0) {
    pass.window_mask = nn::cached_mask(places, config_.window, options.explicit_mask);
  }
  set_rope(places.positions, pass);
  return run_blocks(embed(ids, places.positions, 0), pass);
}

at::Tensor Codelm::logits(const at::Tensor& hidden) const {
  return quantized_head_ ? kernels::quantized_linear(hidden, *quantized_head_, head_bias())
                         : at::linear(hidden, head(), head_bias());
}

void Codelm::quantize(kernels::QuantFormat format, bool double_quantized, bool with_head) {
  if (with_head) {
    quantized_head_ = std::make_shared<const kernels::QuantizedWeight>(
        kernels::quantize(head().detach(), format, double_quantized));
  }
  for (const auto& [name, linear] : linear_layers()) {
    nn::quantize(*linear, format, double_quantized);
  }
  quantized_ = true;
}

void Codelm::move_quantized(c10::Device device) {
  if (quantized_head_) {
    quantized_head_ = std::make_shared<const kernels::QuantizedWeight>(quantized_head_->to(device));
  }
  for (const auto& [name, linear] : linear_layers()) nn::move_quantized(*linear, device);
}

}  // namespace ubique::codelm
