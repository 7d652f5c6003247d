// SPDX-License-Identifier: Apache-2.0
// Keys and values of the positions that attention has seen, for incremental decoding: one cache per
// attention layer.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::nn {

struct KvCache {
  at::Tensor keys, values;  ///< (B, kv heads, capacity, head size)

  static KvCache make(std::int64_t batch, std::int64_t kv_heads, std::int64_t capacity,
                      std::int64_t head_size, const at::TensorOptions& options);

  std::int64_t capacity() const { return keys.size(2); }
  /// Stores n positions (B, kv heads, n, size) from `first` on, overwriting earlier values.
  /// Internal error if they exceed the capacity.
  void store(const at::Tensor& new_keys, const at::Tensor& new_values, std::int64_t first);
};

}  // namespace ubique::nn
