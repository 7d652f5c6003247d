// SPDX-License-Identifier: Apache-2.0
// Allocating and filling a KV cache.
#include "ubique/nn/layers/kv_cache.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"

namespace ubique::nn {

KvCache KvCache::make(std::int64_t batch, std::int64_t kv_heads, std::int64_t capacity,
                      std::int64_t head_size, const at::TensorOptions& options) {
  const auto empty = [&] { return at::zeros({batch, kv_heads, capacity, head_size}, options); };
  return {empty(), empty()};
}

void KvCache::store(const at::Tensor& new_keys, const at::Tensor& new_values, std::int64_t first) {
  const auto end = first + new_keys.size(2);
  check(first >= 0 && end <= capacity(), ErrorKind::Internal,
        "[nn.kv_cache] positions {} to {} do not fit; expected them below {}.", first, end - 1,
        capacity());
  keys.slice(2, first, end).copy_(new_keys);
  values.slice(2, first, end).copy_(new_values);
}

}  // namespace ubique::nn
