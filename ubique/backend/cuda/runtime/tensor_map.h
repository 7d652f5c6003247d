// SPDX-License-Identifier: Apache-2.0
// How Hopper's copy engine sees a tensor in memory: what a kernel takes as an argument to have
// boxes of it brought into shared memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

namespace ubique::backend::cuda {

struct alignas(64) TensorMap {
  std::array<char, 128> bytes{};
};

/// Of bf16 values, four axes, innermost first; `strides` (in values) of all axes but the innermost,
/// whose box has 64 values: rows of 128 bytes, swizzled. Internal error if the driver refuses.
TensorMap swizzled_map(const at::Tensor& tensor, const std::array<std::int64_t, 4>& sizes,
                       const std::array<std::int64_t, 3>& strides, const std::array<int, 4>& box);

}  // namespace ubique::backend::cuda
