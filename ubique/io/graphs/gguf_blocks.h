// SPDX-License-Identifier: Apache-2.0
// The block formats of GGUF tensors, to the bit as llama.cpp's reference makes them: 32 values with
// one f16 scale. Plain functions on floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ubique::io {

inline constexpr std::size_t kGgufBlockValues = 32;

/// value = scale * values[i]
struct Q8Block {
  std::uint16_t scale;  ///< f16
  std::int8_t values[kGgufBlockValues];
};
static_assert(sizeof(Q8Block) == 34);

/// value = scale * (nibble - 8); byte j holds value j in its low and value j + 16 in its high bits
struct Q4Block {
  std::uint16_t scale;  ///< f16
  std::uint8_t nibbles[kGgufBlockValues / 2];
};
static_assert(sizeof(Q4Block) == 18);

// One block each. `values` has 32. Not-a-number counts as 0; infinities make the scale infinite.
Q8Block quantize_q8_0(std::span<const float, kGgufBlockValues> values);
Q4Block quantize_q4_0(std::span<const float, kGgufBlockValues> values);
void dequantize(const Q8Block& block, std::span<float, kGgufBlockValues> values);
void dequantize(const Q4Block& block, std::span<float, kGgufBlockValues> values);

/// Whole rows: a multiple of 32 values, and exactly the bytes of their blocks (Internal error).
void quantize_q8_0(std::span<const float> values, std::span<std::byte> blocks);
void quantize_q4_0(std::span<const float> values, std::span<std::byte> blocks);
void dequantize_q8_0(std::span<const std::byte> blocks, std::span<float> values);
void dequantize_q4_0(std::span<const std::byte> blocks, std::span<float> values);

// Rounded to the nearest, ties to even; decode_f16 and decode_bf16 (tensor_stats.h) go back.
std::uint16_t encode_f16(float value);
std::uint16_t encode_bf16(float value);

}  // namespace ubique::io
