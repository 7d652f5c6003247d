// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/safetensors_dtype.h"

#include <array>
#include <utility>

#include "ubique/base/error.h"

namespace ubique::io {
namespace {

// The order is the writer's; Python's serializer has the same.
constexpr std::array<std::pair<DType, std::string_view>, 16> kDTypeNames{{
    {DType::U64, "U64"},
    {DType::I64, "I64"},
    {DType::F64, "F64"},
    {DType::C64, "C64"},
    {DType::F32, "F32"},
    {DType::U32, "U32"},
    {DType::I32, "I32"},
    {DType::BF16, "BF16"},
    {DType::F16, "F16"},
    {DType::U16, "U16"},
    {DType::I16, "I16"},
    {DType::F8E4M3, "F8_E4M3"},
    {DType::F8E5M2, "F8_E5M2"},
    {DType::I8, "I8"},
    {DType::U8, "U8"},
    {DType::Bool, "BOOL"},
}};

}  // namespace

int safetensors_rank(DType dtype) {
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (kDTypeNames[i].first == dtype) return static_cast<int>(i);
  }
  fail(ErrorKind::Internal, "[io.safetensors] no name for dtype {}.", to_string(dtype));
}

std::string_view safetensors_name(DType dtype) {
  return kDTypeNames[static_cast<std::size_t>(safetensors_rank(dtype))].second;
}

std::optional<DType> safetensors_dtype(std::string_view name) {
  for (const auto& [dtype, known] : kDTypeNames) {
    if (known == name) return dtype;
  }
  return std::nullopt;
}

std::string safetensors_dtypes() {
  std::string text;
  for (const auto& row : kDTypeNames) text += (text.empty() ? "" : ", ") + std::string(row.second);
  return text;
}

}  // namespace ubique::io
