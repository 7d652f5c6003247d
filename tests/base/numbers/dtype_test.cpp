// SPDX-License-Identifier: Apache-2.0
// Sizes, names and epsilons of the element types.
#include "ubique/base/numbers/dtype.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace ubique;

TEST_CASE("dtype: every type has a size and a name that reads back") {
  for (int i = 0; i <= static_cast<int>(DType::C64); ++i) {
    const auto dtype = static_cast<DType>(i);
    CAPTURE(to_string(dtype));
    CHECK(size_of(dtype) > 0);
    CHECK(parse_dtype(to_string(dtype)) == dtype);
  }
  CHECK(size_of(DType::Bool) == 1);
  CHECK(size_of(DType::F8E5M2) == 1);
  CHECK(size_of(DType::BF16) == 2);
  CHECK(size_of(DType::F32) == 4);
  CHECK(size_of(DType::I64) == 8);
  CHECK(size_of(DType::C64) == 8);
}

TEST_CASE("dtype: the usual other names are understood in any case") {
  CHECK(parse_dtype("bfloat16") == DType::BF16);
  CHECK(parse_dtype("BF16") == DType::BF16);
  CHECK(parse_dtype("half") == DType::F16);
  CHECK(parse_dtype("Float32") == DType::F32);
  CHECK(parse_dtype("long") == DType::I64);
  CHECK_FALSE(parse_dtype("float3").has_value());
  CHECK_FALSE(parse_dtype("").has_value());
}

TEST_CASE("dtype: epsilon is that of the format, and 0 for integers") {
  CHECK(epsilon(DType::F32) == static_cast<double>(std::numeric_limits<float>::epsilon()));
  CHECK(epsilon(DType::F64) == std::numeric_limits<double>::epsilon());
  CHECK(epsilon(DType::F16) == 1.0 / 1024);
  CHECK(epsilon(DType::BF16) == 1.0 / 128);
  CHECK(epsilon(DType::I32) == 0);
  CHECK(is_floating(DType::F8E4M3));
  CHECK_FALSE(is_floating(DType::U8));
  CHECK_FALSE(is_floating(DType::Bool));
}
