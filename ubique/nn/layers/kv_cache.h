// SPDX-License-Identifier: Apache-2.0
// Keys and values of the positions that attention has seen, for incremental decoding: one cache per
// attention layer.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ubique::nn {

/// Where the new tokens of a pass stand in their texts, one text per row of the caches.
struct NewPositions {
  at::Tensor positions;     ///< (B, n) i64, on the device
  std::int64_t extent = 0;  ///< cached positions that a pass reads; the new ones are below
  /// One row, whose new positions are the last n of the extent: the host knows them, which saves
  /// index ops and most masks. Not for a recorded pass, whose positions change.
  bool at_end = false;
};

struct KvCache {
  at::Tensor keys, values;  ///< (B, kv heads, capacity, head size)

  static KvCache make(std::int64_t batch, std::int64_t kv_heads, std::int64_t capacity,
                      std::int64_t head_size, const at::TensorOptions& options);

  std::int64_t capacity() const { return keys.size(2); }
  /// Stores n positions (B, kv heads, n, size) from `first` on, overwriting earlier values.
  /// Internal error if they exceed the capacity.
  void store(const at::Tensor& new_keys, const at::Tensor& new_values, std::int64_t first);
  /// The same at the positions of each row; nothing is asked of the host.
  void store(const at::Tensor& new_keys, const at::Tensor& new_values, const NewPositions& places);
  /// The first `extent` positions.
  KvCache read(std::int64_t extent) const;
  KvCache rows(std::int64_t first, std::int64_t count) const;  ///< of some texts
};

}  // namespace ubique::nn
