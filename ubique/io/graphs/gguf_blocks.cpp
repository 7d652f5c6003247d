// SPDX-License-Identifier: Apache-2.0
// Quantises and restores blocks. The order of float operations is llama.cpp's: other orders round
// some values differently.
#include "ubique/io/graphs/gguf_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/io/tensors/tensor_stats.h"

namespace ubique::io {
namespace {

constexpr std::size_t kHalf = kGgufBlockValues / 2;

float inverse(float scale) { return scale != 0 ? 1.0F / scale : 0.0F; }

/// Nearest integer, ties away from zero; not-a-number, which has no integer, is 0.
std::int8_t round_to_int8(float value) {
  const float rounded = std::round(value);
  return rounded >= -128 && rounded <= 127 ? static_cast<std::int8_t>(rounded) : std::int8_t{0};
}

std::uint8_t round_to_nibble(float value) {
  const float raised = value + 8.5F;
  return raised > 0 ? static_cast<std::uint8_t>(std::min(raised, 15.0F)) : std::uint8_t{0};
}

std::size_t checked_blocks(std::size_t values, std::size_t bytes, std::size_t block_bytes) {
  check(values % kGgufBlockValues == 0 && bytes == values / kGgufBlockValues * block_bytes,
        ErrorKind::Internal,
        "[io.gguf] values and blocks do not fit together; got {} values and {} bytes, expected "
        "{} bytes for each 32 values.",
        values, bytes, block_bytes);
  return values / kGgufBlockValues;
}

template <typename Block, typename Quantize>
void quantize_blocks(std::span<const float> values, std::span<std::byte> blocks,
                     const Quantize& quantize) {
  const auto count = checked_blocks(values.size(), blocks.size(), sizeof(Block));
  for (std::size_t i = 0; i < count; ++i) {
    const Block block =
        quantize(values.subspan(i * kGgufBlockValues).template first<kGgufBlockValues>());
    std::memcpy(blocks.data() + i * sizeof(Block), &block, sizeof(Block));
  }
}

template <typename Block>
void dequantize_blocks(std::span<const std::byte> blocks, std::span<float> values) {
  const auto count = checked_blocks(values.size(), blocks.size(), sizeof(Block));
  for (std::size_t i = 0; i < count; ++i) {
    Block block;
    std::memcpy(&block, blocks.data() + i * sizeof(Block), sizeof(Block));
    dequantize(block, values.subspan(i * kGgufBlockValues).first<kGgufBlockValues>());
  }
}

}  // namespace

Q8Block quantize_q8_0(std::span<const float, kGgufBlockValues> values) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::fabs(value));
  const float scale = most / 127;
  const float factor = inverse(scale);
  Q8Block block{encode_f16(scale), {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    block.values[i] = round_to_int8(values[i] * factor);
  }
  return block;
}

Q4Block quantize_q4_0(std::span<const float, kGgufBlockValues> values) {
  float most = 0, extreme = 0;  // the extreme keeps its sign: it becomes exactly -8
  for (const float value : values) {
    if (most < std::fabs(value)) {
      most = std::fabs(value);
      extreme = value;
    }
  }
  const float scale = extreme / -8;
  const float factor = inverse(scale);
  Q4Block block{encode_f16(scale), {}};
  for (std::size_t i = 0; i < kHalf; ++i) {
    const unsigned low = round_to_nibble(values[i] * factor);
    const unsigned high = round_to_nibble(values[i + kHalf] * factor);
    block.nibbles[i] = static_cast<std::uint8_t>(low | high << 4U);
  }
  return block;
}

void dequantize(const Q8Block& block, std::span<float, kGgufBlockValues> values) {
  const float scale = decode_f16(block.scale);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = scale * static_cast<float>(block.values[i]);
  }
}

void dequantize(const Q4Block& block, std::span<float, kGgufBlockValues> values) {
  const float scale = decode_f16(block.scale);
  for (std::size_t i = 0; i < kHalf; ++i) {
    values[i] = scale * static_cast<float>((block.nibbles[i] & 15) - 8);
    values[i + kHalf] = scale * static_cast<float>((block.nibbles[i] >> 4) - 8);
  }
}

void quantize_q8_0(std::span<const float> values, std::span<std::byte> blocks) {
  quantize_blocks<Q8Block>(values, blocks, [](auto block) { return quantize_q8_0(block); });
}

void quantize_q4_0(std::span<const float> values, std::span<std::byte> blocks) {
  quantize_blocks<Q4Block>(values, blocks, [](auto block) { return quantize_q4_0(block); });
}

void dequantize_q8_0(std::span<const std::byte> blocks, std::span<float> values) {
  dequantize_blocks<Q8Block>(blocks, values);
}

void dequantize_q4_0(std::span<const std::byte> blocks, std::span<float> values) {
  dequantize_blocks<Q4Block>(blocks, values);
}

std::uint16_t encode_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  const auto magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return sign | 0x7E00U;   // not a number
  if (magnitude >= 0x47800000U) return sign | 0x7C00U;  // 65536 and more: infinite
  if (magnitude < 0x38800000U) {
    // Below 2^-14 the spacing is 2^-24: adding 0.5 makes the float's own rounding do the work.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
  }
  const auto odd = magnitude >> 13U & 1U;
  const auto rounded = magnitude + 0x0FFFU + odd - (112U << 23U);  // exponent bias 127 -> 15
  return static_cast<std::uint16_t>(sign | rounded >> 13U);
}

std::uint16_t encode_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>(bits >> 16U | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

}  // namespace ubique::io
