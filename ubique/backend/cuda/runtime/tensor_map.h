// SPDX-License-Identifier: Apache-2.0
// Tensor maps: kernel arguments from which Hopper's copy engine loads boxes of a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

namespace ubique::backend::cuda {

struct alignas(64) TensorMap {
  std::array<char, 128> bytes{};
};

/// A map of bf16 values with four axes, innermost first; `strides` (in values) of all axes but the
/// innermost, whose box has 64 values: rows of 128 bytes, swizzled. Internal error on failure.
TensorMap swizzled_map(const at::Tensor& tensor, const std::array<std::int64_t, 4>& sizes,
                       const std::array<std::int64_t, 3>& strides, const std::array<int, 4>& box);

}  // namespace ubique::backend::cuda
