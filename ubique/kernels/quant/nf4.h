// SPDX-License-Identifier: Apache-2.0
// NF4, the 4-bit code of QLoRA, and the 8-bit code of its scales, on plain floats: to the bit what
// bitsandbytes makes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ubique::kernels {

inline constexpr std::int64_t kNf4Block = 64;        ///< weights with one scale
inline constexpr std::int64_t kNf4ScaleBlock = 256;  ///< scales with one scale of their own

/// The 16 values, rising; index 7 is zero.
const std::array<float, 16>& nf4_code();

/// The 256 values of double quantisation, rising: dense near zero, from -0.993 to 1.
const std::array<float, 256>& scale_code();

/// One block: the largest magnitude, and two indices a byte with the first in the high bits.
/// `packed` has half as many bytes as there are values.
float quantize_nf4(std::span<const float> values, std::span<std::uint8_t> packed);

/// Scales less their mean, as indices into scale_code(); returns the factor of the block.
float quantize_scales(std::span<const float> values, std::span<std::uint8_t> indices);

}  // namespace ubique::kernels
