// SPDX-License-Identifier: Apache-2.0
// Tensor element types as plain data, without torch, for files, plans and profiles.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ubique {

// clang-format off
enum class DType {
  Bool, U8, I8, U16, I16, U32, I32, U64, I64,
  F8E4M3, F8E5M2, F16, BF16, F32, F64,
  C64,  ///< complex of two F32
};
// clang-format on

std::size_t size_of(DType dtype);         ///< bytes per element
std::string_view to_string(DType dtype);  ///< "bf16", "f32", "i64": how we print it
double epsilon(DType dtype);              ///< distance from 1 to the next value; 0 for integers
bool is_floating(DType dtype);
/// Reads our own names and the usual long ones ("bfloat16", "half", "float32", "fp16").
std::optional<DType> parse_dtype(std::string_view text);

}  // namespace ubique
