// SPDX-License-Identifier: Apache-2.0
// Numbers that describe a tensor's values, computed in fp64 from its bytes, without torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ubique/base/numbers/dtype.h"

namespace ubique::io {

struct TensorStats {
  std::int64_t count = 0;  ///< all values
  std::int64_t nan = 0;    ///< not a number
  std::int64_t infinite = 0;
  /// Of the values that are numbers, infinities among them; both nothing if there are none.
  std::optional<double> min, max;
  /// Of the finite values; std is that of the whole population (divided by n).
  std::optional<double> mean, std;
};

/// Integers of 64 bits are rounded to fp64. Nothing for complex numbers.
std::optional<TensorStats> tensor_stats(DType dtype, std::span<const std::byte> bytes);

// How the small floating types are decoded; exact.
float decode_f16(std::uint16_t bits);
float decode_bf16(std::uint16_t bits);
float decode_f8e4m3(std::uint8_t bits);  ///< no infinities: S.1111.111 is NaN
float decode_f8e5m2(std::uint8_t bits);

}  // namespace ubique::io
