// SPDX-License-Identifier: Apache-2.0
// Self-attention with rotary positions: over a whole sequence, and position by position with a KV
// cache. Queries, keys and values come from one bias-free product.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ubique/kernels/dispatch/cast_weight.h"
#include "ubique/nn/layers/kv_cache.h"

namespace ubique::nn {

struct AttentionConfig {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 0;  ///< grouped-query: fewer key and value heads; 0 = as many as `heads`
  bool causal = false;        ///< a position attends to itself and earlier ones
  std::int64_t window = 0;    ///< with causal: attend to the last `window` positions only; 0 = all
  at::Tensor cos = {}, sin = {};  ///< rope_tables(); undefined = no rotation
};

/// Which keys each query attends to, made once per pass and used by all layers of one kind.
struct AttentionMask {
  bool causal = false;      ///< plain causal: as many queries as keys, no tensor needed
  at::Tensor allowed = {};  ///< bool (B or 1, 1, n, m); undefined: by `causal`, else every key
  bool packed = false;      ///< packed_mask(): `starts` and `window` say it all
  at::Tensor starts = {};
  std::int64_t window = 0;
};

/// The mask of n queries, the last of m positions, under causal attention with a window (0: none).
/// `explicit_mask` makes a tensor also where `causal` would say the same.
AttentionMask causal_mask(std::int64_t n, std::int64_t m, std::int64_t window, c10::Device device,
                          bool explicit_mask = false);
/// The mask of new positions over the caches' extent: each sees what stands before it in its text.
AttentionMask cached_mask(const NewPositions& places, std::int64_t window,
                          bool explicit_mask = false);
/// The mask of packed documents: a position attends to earlier ones of its own document.
/// `documents` (B, T) numbers the document of each position.
AttentionMask document_mask(const at::Tensor& documents, std::int64_t window);

/// The same for devices with kernels for packed documents (kernels::does_packed_attention): no
/// tensor of all pairs. `starts` as kernels::packed_attention takes it.
AttentionMask packed_mask(const at::Tensor& starts, std::int64_t window);

/// softmax(q·kᵀ/√size)·v for q (B, heads, n, size) and k, v (B, kv heads, m, size), where each key
/// head serves heads / kv heads queries: (B, heads, n, size).
at::Tensor masked_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const AttentionMask& mask, double dropout = 0);

/// softmax(q·kᵀ/√size)·v for q (B, heads, n, size) and k, v (B, kv heads, m, size), whose last n
/// positions are the queries': (B, heads, n, size).
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const AttentionConfig& config);

/// rms_norm(x + attention(x)·outᵀ), a post-normed block: x (B, L, H), qkv ((heads + 2·kv
/// heads)·size, H), out (H, heads·size).
at::Tensor attention_block(const at::Tensor& x, const kernels::CastWeight& qkv,
                           const kernels::CastWeight& out, const AttentionConfig& config);

/// attention(x)·outᵀ of positions first..first+n-1, x (B, n, H), causal over everything before
/// them, which is in `cache`; their own keys and values are stored there. Gives the numbers of the
/// full pass.
at::Tensor attention_step(const at::Tensor& x, const kernels::CastWeight& qkv,
                          const kernels::CastWeight& out, const AttentionConfig& config,
                          KvCache& cache, std::int64_t first);

}  // namespace ubique::nn
