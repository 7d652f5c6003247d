// SPDX-License-Identifier: Apache-2.0
// Splitting the qkv product into heads, masks, and the passes with and without a KV cache.
#include "ubique/nn/layers/attention.h"

#include <ATen/ATen.h>

#include <tuple>

#include "ubique/kernels/decoder/packed_attention.h"
#include "ubique/kernels/mixer/attention.h"
#include "ubique/kernels/mixer/fused_qkv_attention.h"
#include "ubique/kernels/mixer/gated_mlp.h"
#include "ubique/kernels/mixer/residual_linear.h"
#include "ubique/nn/layers/rope.h"

namespace ubique::nn {
namespace {

using Heads = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

bool is_grouped(const AttentionConfig& config) {
  return config.kv_heads != 0 && config.kv_heads != config.heads;
}

/// (B, n, count·size) to (B, count, n, size).
at::Tensor as_heads(const at::Tensor& product, std::int64_t count) {
  return product.view({product.size(0), product.size(1), count, -1}).transpose(1, 2);
}

Heads split_grouped(const at::Tensor& product, const AttentionConfig& config, const at::Tensor& cos,
                    const at::Tensor& sin) {
  const auto size = product.size(-1) / (config.heads + 2 * config.kv_heads);
  const auto parts = product.split_with_sizes(
      {config.heads * size, config.kv_heads * size, config.kv_heads * size}, -1);
  auto q = as_heads(parts[0], config.heads), k = as_heads(parts[1], config.kv_heads);
  if (cos.defined()) {
    q = apply_rope(q, cos.slice(0, 0, q.size(2)), sin.slice(0, 0, q.size(2)));
    k = apply_rope(k, cos.slice(0, 0, k.size(2)), sin.slice(0, 0, k.size(2)));
  }
  return {q, k, as_heads(parts[2], config.kv_heads)};
}

Heads split_qkv(const at::Tensor& product, const AttentionConfig& config, const at::Tensor& cos,
                const at::Tensor& sin) {
  return is_grouped(config) ? split_grouped(product, config, cos, sin)
                            : kernels::split_heads(product, config.heads, cos, sin);
}

/// Repeats each key or value head for the query heads that share it.
at::Tensor repeat_heads(const at::Tensor& x, std::int64_t heads) {
  if (x.size(1) == heads) return x;
  const auto times = heads / x.size(1);
  return x.unsqueeze(2)
      .expand({x.size(0), x.size(1), times, x.size(2), x.size(3)})
      .reshape({x.size(0), heads, x.size(2), x.size(3)});
}

/// Up to so many positions, repeating the rows of a mask costs less than repeating keys.
constexpr std::int64_t kFewQueries = 16;

/// The rows of a mask (B, 1, n, m) once for each query head of a group: (B, 1, times·n, m).
at::Tensor repeat_rows(const at::Tensor& allowed, std::int64_t times) {
  if (!allowed.defined()) return allowed;
  const auto sizes = allowed.sizes();
  return allowed.unsqueeze(2)
      .expand({sizes[0], sizes[1], times, sizes[2], sizes[3]})
      .reshape({sizes[0], sizes[1], times * sizes[2], sizes[3]});
}

/// (n, m) bool: is the key at or before the query, the last n of m positions, and in its window?
at::Tensor seen_before(std::int64_t n, std::int64_t m, std::int64_t window, c10::Device device) {
  const auto positions = at::arange(m, at::TensorOptions(at::kLong).device(device));
  const auto behind = positions.slice(0, m - n).unsqueeze(1) - positions.unsqueeze(0);
  const auto seen = behind >= 0;
  return window == 0 ? seen : seen.logical_and(behind < window);
}

}  // namespace

AttentionMask causal_mask(std::int64_t n, std::int64_t m, std::int64_t window, c10::Device device,
                          bool explicit_mask) {
  const bool in_window = window == 0 || window >= m;
  if (in_window && n == 1) return {};
  if (in_window && n == m && !explicit_mask) return {.causal = true};
  return {.allowed = seen_before(n, m, window, device).unsqueeze(0).unsqueeze(0)};
}

AttentionMask cached_mask(const NewPositions& places, std::int64_t window, bool explicit_mask) {
  const auto& positions = places.positions;
  if (places.at_end) {
    return causal_mask(positions.size(1), places.extent, window, positions.device(), explicit_mask);
  }
  const auto behind = positions.unsqueeze(2) - at::arange(places.extent, positions.options());
  const auto seen = behind >= 0;  // (B, n, extent)
  return {.allowed = (window == 0 ? seen : seen.logical_and(behind < window)).unsqueeze(1)};
}

AttentionMask document_mask(const at::Tensor& documents, std::int64_t window) {
  const auto length = documents.size(1);
  const auto same = documents.unsqueeze(2) == documents.unsqueeze(1);  // (B, T, T)
  const auto seen = seen_before(length, length, window, documents.device());
  return {.allowed = same.logical_and(seen).unsqueeze(1)};
}

AttentionMask packed_mask(const at::Tensor& starts, std::int64_t window) {
  return {.packed = true, .starts = starts, .window = window};
}

at::Tensor masked_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const AttentionMask& mask, double dropout) {
  if (mask.packed) return kernels::packed_attention(q, k, v, mask.starts, mask.window);
  const auto heads = q.size(1), kv_heads = k.size(1);
  const auto given = [](const at::Tensor& allowed) {
    return allowed.defined() ? std::optional<at::Tensor>(allowed) : std::nullopt;
  };
  const bool few = q.size(2) == 1 || (q.size(2) <= kFewQueries && mask.allowed.defined());
  if (few && heads != kv_heads) {
    // Queries of few positions that share a key head become rows: no copies of the keys.
    const auto group = heads / kv_heads;
    const auto grouped = q.reshape({q.size(0), kv_heads, group * q.size(2), q.size(3)});
    return at::scaled_dot_product_attention(grouped, k, v, given(repeat_rows(mask.allowed, group)),
                                            dropout)
        .reshape(q.sizes());
  }
  return at::scaled_dot_product_attention(q, repeat_heads(k, heads), repeat_heads(v, heads),
                                          given(mask.allowed), dropout, mask.causal);
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const AttentionConfig& config) {
  const auto mask = config.causal ? causal_mask(q.size(2), k.size(2), config.window, q.device(),
                                                /*explicit_mask=*/true)
                                  : AttentionMask();
  return masked_attention(q, k, v, mask);
}

at::Tensor attention_block(const at::Tensor& x, const kernels::CastWeight& qkv,
                           const kernels::CastWeight& out, const AttentionConfig& config) {
  const auto [product, residual] =
      kernels::linear_and_residual(x, qkv);  // (B, L, (heads + 2 kv)·size)
  at::Tensor mixed;                          // (B, L, heads·size)
  if (is_grouped(config) || config.window > 0) {
    const auto [q, k, v] = split_qkv(product, config, config.cos, config.sin);
    mixed = attention(q, k, v, config).transpose(1, 2).flatten(2);
  } else {
    mixed =
        kernels::fused_qkv_attention(product, config.heads, config.cos, config.sin, config.causal);
    if (!mixed.defined()) {
      const auto [q, k, v] = kernels::split_heads(product, config.heads, config.cos, config.sin);
      mixed = kernels::attention(q, k, v, config.causal);
    }
  }
  return kernels::post_norm(residual, at::linear(mixed, out.use()));
}

at::Tensor attention_step(const at::Tensor& x, const kernels::CastWeight& qkv,
                          const kernels::CastWeight& out, const AttentionConfig& config,
                          KvCache& cache, std::int64_t first) {
  const auto end = first + x.size(1);
  const auto rows = [&](const at::Tensor& table) {
    return table.defined() ? table.slice(0, first, end) : table;
  };
  const auto [q, k, v] =
      split_qkv(at::linear(x, qkv.use()), config, rows(config.cos), rows(config.sin));
  cache.store(k, v, first);
  auto causal = config;
  causal.causal = true;
  const auto mixed =
      attention(q, cache.keys.slice(2, 0, end), cache.values.slice(2, 0, end), causal);
  return at::linear(mixed.transpose(1, 2).flatten(2), out.use());
}

}  // namespace ubique::nn
