// SPDX-License-Identifier: Apache-2.0
// Statistics of every dtype, and decoding of the small floating-point types.
#include "ubique/io/tensors/tensor_stats.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace ubique;

namespace {

template <typename T>
io::TensorStats stats_for(DType dtype, const std::vector<T>& values) {
  const auto stats = io::tensor_stats(dtype, std::as_bytes(std::span(values)));
  REQUIRE(stats.has_value());
  return *stats;
}

/// The value by the definition of the format: sign, exponent with bias, mantissa.
double by_definition(unsigned bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto mantissa = static_cast<int>(bits & ((1U << mantissa_bits) - 1));
  const auto exponent = static_cast<int>(bits >> mantissa_bits & ((1U << exponent_bits) - 1));
  const double sign = (bits >> (mantissa_bits + exponent_bits)) != 0 ? -1 : 1;
  const int whole = exponent == 0 ? 0 : 1 << mantissa_bits;
  return sign * std::ldexp(whole + mantissa, std::max(exponent, 1) - bias - mantissa_bits);
}

}  // namespace

TEST_CASE("tensor stats: every f16 is decoded by its definition") {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = io::decode_f16(static_cast<std::uint16_t>(bits));
    if ((bits & 0x7C00U) != 0x7C00U) {
      REQUIRE(static_cast<double>(value) == by_definition(bits, 5, 10));
      REQUIRE(std::signbit(value) == (bits >= 0x8000U));
    } else if ((bits & 0x3FFU) == 0) {
      REQUIRE(std::isinf(value));
    } else {
      REQUIRE(std::isnan(value));
    }
  }
}

TEST_CASE("tensor stats: every f8 is decoded by its definition") {
  for (unsigned bits = 0; bits < 256; ++bits) {
    const auto byte = static_cast<std::uint8_t>(bits);
    const float four = io::decode_f8e4m3(byte), five = io::decode_f8e5m2(byte);
    if ((bits & 0x7FU) == 0x7FU) {
      CHECK(std::isnan(four));
    } else {
      CHECK(static_cast<double>(four) == by_definition(bits, 4, 3));
    }
    if ((bits & 0x7CU) != 0x7CU) CHECK(static_cast<double>(five) == by_definition(bits, 5, 2));
  }
  CHECK(io::decode_f8e4m3(0x7E) == 448);
  CHECK(io::decode_f8e5m2(0x7B) == 57344);
  CHECK(std::isinf(io::decode_f8e5m2(0xFC)));
  CHECK(std::isnan(io::decode_f8e5m2(0x7D)));
}

TEST_CASE("tensor stats: known values of bf16") {
  CHECK(io::decode_bf16(0x3F80) == 1);
  CHECK(io::decode_bf16(0xC049) == -3.140625F);
  CHECK(std::isnan(io::decode_bf16(0x7FC0)));
}

TEST_CASE("tensor stats: smallest, largest, mean and deviation") {
  const auto stats = stats_for<float>(DType::F32, {1, 2, 3, 6});
  CHECK(stats.count == 4);
  CHECK(stats.min == 1.0);
  CHECK(stats.max == 6.0);
  CHECK(stats.mean == 3.0);
  CHECK(*stats.std == doctest::Approx(std::sqrt(3.5)).epsilon(1e-15));
  CHECK(stats.nan == 0);
}

TEST_CASE("tensor stats: NaN and infinities are counted and kept out of the mean") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto stats = stats_for<double>(DType::F64, {nan, 1, -infinity, 3, nan});
  CHECK(stats.nan == 2);
  CHECK(stats.infinite == 1);
  CHECK(stats.min == -infinity);
  CHECK(stats.max == 3.0);
  CHECK(stats.mean == 2.0);
  CHECK(stats.std == 1.0);
}

TEST_CASE("tensor stats: with no numbers there are none to show") {
  const auto empty = stats_for<float>(DType::F32, {});
  CHECK(empty.count == 0);
  CHECK(!empty.min.has_value());
  CHECK(!empty.mean.has_value());
  const auto nan = stats_for<std::uint8_t>(DType::F8E4M3, {0x7F, 0xFF});
  CHECK(nan.nan == 2);
  CHECK(!nan.max.has_value());
  const auto infinite = stats_for<std::uint16_t>(DType::F16, {0x7C00});
  CHECK(infinite.max == std::numeric_limits<double>::infinity());
  CHECK(!infinite.mean.has_value());
}

TEST_CASE("tensor stats: many values far from zero keep their spread") {
  std::vector<float> values;
  for (int i = 0; i < 100'001; ++i) values.push_back(1.0e6F + static_cast<float>(i % 2 * 2 - 1));
  const auto stats = stats_for(DType::F32, values);
  CHECK(*stats.std == doctest::Approx(1.0).epsilon(1e-9));
}

TEST_CASE("tensor stats: integers and truth values have them, complex numbers do not") {
  CHECK(stats_for<std::int8_t>(DType::I8, {-128, 127}).min == -128.0);
  CHECK(stats_for<std::uint64_t>(DType::U64, {1ULL << 63U}).max == 0x1p63);
  CHECK(stats_for<std::uint8_t>(DType::Bool, {0, 1, 255, 0}).mean == 0.5);
  CHECK(!io::tensor_stats(DType::C64, {}).has_value());
}
