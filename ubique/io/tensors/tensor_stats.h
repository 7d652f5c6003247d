// SPDX-License-Identifier: Apache-2.0
// Statistics of a tensor's values, computed in fp64 from its bytes. No torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "ubique/base/numbers/dtype.h"

namespace ubique::io {

struct TensorStats {
  std::int64_t count = 0;  ///< all values
  std::int64_t nan = 0;    ///< not a number
  std::int64_t infinite = 0;
  /// Of all values but NaN, including infinities; nothing if there are none.
  std::optional<double> min, max;
  /// Of the finite values; std divides by n.
  std::optional<double> mean, std;
};

/// 64-bit integers are rounded to fp64. Nothing for complex numbers.
std::optional<TensorStats> tensor_stats(DType dtype, std::span<const std::byte> bytes);

/// Fills the span with the bytes that begin at the offset.
using ReadBytes = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;
/// The same of `size` bytes that are read block by block: for files, whose memory map would end the
/// program with a signal if they became shorter meanwhile.
std::optional<TensorStats> tensor_stats(DType dtype, std::uint64_t size, const ReadBytes& read);

// Exact conversions of the small floating-point types.
float decode_f16(std::uint16_t bits);
float decode_bf16(std::uint16_t bits);
float decode_f8e4m3(std::uint8_t bits);  ///< no infinities: S.1111.111 is NaN
float decode_f8e5m2(std::uint8_t bits);

}  // namespace ubique::io
