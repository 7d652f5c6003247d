// SPDX-License-Identifier: Apache-2.0
// The blocks of GGUF: rounding rules, extreme values, and small floating-point types.
#include "ubique/io/graphs/gguf_blocks.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/base/scratch.h"
#include "ubique/io/tensors/tensor_stats.h"

using namespace ubique;

namespace {
using BlockValues = std::array<float, io::kGgufBlockValues>;
}

TEST_CASE("gguf: Q8_0 divides by the largest magnitude and rounds halves away from zero") {
  BlockValues values{};
  values[0] = -127;
  values[1] = 0.5F;
  values[2] = -2.5F;
  values[31] = 126.4F;
  const auto block = io::quantize_q8_0(values);
  CHECK(block.scale == 0x3C00);  // 1
  CHECK(block.values[0] == -127);
  CHECK(block.values[1] == 1);
  CHECK(block.values[2] == -3);
  CHECK(block.values[31] == 126);
}

TEST_CASE("gguf: Q4_0 maps the value of the largest magnitude to -8, whatever its sign") {
  BlockValues values{};
  values[3] = 8;
  values[19] = -8;  // as large, but later
  values[4] = 0.49F;
  const auto block = io::quantize_q4_0(values);
  CHECK(block.scale == 0xBC00);  // -1
  CHECK((block.nibbles[3] & 15) == 0);
  CHECK((block.nibbles[3] >> 4) == 15);  // +8 is out of range
  CHECK((block.nibbles[4] & 15) == 8);
  BlockValues restored{};
  io::dequantize(block, restored);
  CHECK(restored[3] == 8);
  CHECK(restored[19] == -7);
  CHECK(restored[0] == 0);
}

TEST_CASE("gguf: zeros, tiny values and values that are no numbers make valid blocks") {
  BlockValues values{}, restored{};
  io::dequantize(io::quantize_q8_0(values), restored);
  CHECK(restored == values);
  values.fill(std::numeric_limits<float>::denorm_min());
  io::dequantize(io::quantize_q8_0(values), restored);
  for (const float value : restored) CHECK(std::isfinite(value));
  values.fill(1);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  CHECK(io::quantize_q8_0(values).values[5] == 0);
  CHECK(io::quantize_q8_0(values).values[6] == 127);
  CHECK((io::quantize_q4_0(values).nibbles[6] & 15) == 0);
}

TEST_CASE("gguf: rows and blocks of different sizes are refused") {
  const std::vector<float> values(64);
  std::vector<std::byte> blocks(67);
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Internal, [&] { io::quantize_q8_0(values, blocks); }),
      "got 64 values and 67 bytes"));
}

TEST_CASE("gguf: every f16 and bf16 comes back from its float, and others round to the nearest") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (!std::isnan(io::decode_f16(half))) {
      REQUIRE(io::encode_f16(io::decode_f16(half)) == half);
      const auto up = static_cast<std::uint16_t>(half + 1);
      if ((half & 0x7FFFU) < 0x7BFFU) {  // halfway to the next: to the even one
        const float middle = (io::decode_f16(half) + io::decode_f16(up)) / 2;
        REQUIRE(io::encode_f16(middle) == ((half & 1U) == 0 ? half : up));
      }
    }
    if (!std::isnan(io::decode_bf16(half))) {
      REQUIRE(io::encode_bf16(io::decode_bf16(half)) == half);
    }
  }
  CHECK(std::isnan(io::decode_f16(io::encode_f16(NAN))));
  CHECK(std::isnan(io::decode_bf16(io::encode_bf16(std::bit_cast<float>(0x7F800001U)))));
  CHECK(io::encode_f16(65519.996F) == 0x7BFF);
  CHECK(io::encode_f16(65520) == 0x7C00);
  CHECK(io::encode_bf16(3.4e38F) == 0x7F80);
  CHECK(io::encode_bf16(1.00390625F) == 0x3F80);  // halfway: to the even one
}
