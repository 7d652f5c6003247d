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

void KvCache::store(const at::Tensor& new_keys, const at::Tensor& new_values,
                    const NewPositions& places) {
  if (places.at_end) return store(new_keys, new_values, places.extent - new_keys.size(2));
  const auto index = places.positions.unsqueeze(1).unsqueeze(3).expand(new_keys.sizes());
  keys.scatter_(2, index, new_keys);  // (B, kv heads, n, size)
  values.scatter_(2, index, new_values);
}

KvCache KvCache::read(std::int64_t extent) const {
  return {keys.slice(2, 0, extent), values.slice(2, 0, extent)};
}

KvCache KvCache::rows(std::int64_t first, std::int64_t count) const {
  return {keys.narrow(0, first, count), values.narrow(0, first, count)};
}

}  // namespace ubique::nn
