// SPDX-License-Identifier: Apache-2.0
// Sizes of shapes with overflow.
#include "ubique/io/tensors/tensor_info.h"

#include <doctest/doctest.h>

using namespace ubique;

TEST_CASE("tensor info: sizes, and those that do not fit") {
  CHECK(io::byte_count(DType::F32, {2, 3}) == 24);
  CHECK(io::byte_count(DType::F64, {}) == 8);
  CHECK(io::element_count({}) == 1);
  CHECK(io::element_count({5, 0, 7}) == 0);
  CHECK(!io::byte_count(DType::F32, {-1}));
  CHECK(io::byte_count(DType::U8, {(1LL << 62) + ((1LL << 62) - 1)}).has_value());
  CHECK(!io::byte_count(DType::U16, {1LL << 62}));
  CHECK(!io::byte_count(DType::U8, {1LL << 32, 1LL << 31}));
  CHECK(!io::byte_count(DType::U8, {0, 1LL << 32, 1LL << 31}));
}

TEST_CASE("tensor info: shapes as text") {
  CHECK(io::shape_text({}) == "[]");
  CHECK(io::shape_text({2, 3}) == "[2, 3]");
}
