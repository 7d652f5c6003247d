// SPDX-License-Identifier: Apache-2.0
// The table of element types: size, epsilon and names.
#include "ubique/base/numbers/dtype.h"

#include <array>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique {
namespace {

struct Row {
  DType dtype;
  std::size_t bytes;
  double epsilon;
  std::array<std::string_view, 4> names;  // ours first, then other accepted spellings
};

constexpr std::array<Row, 16> kRows{{
    {DType::Bool, 1, 0, {"bool", "boolean"}},
    {DType::U8, 1, 0, {"u8", "uint8", "byte"}},
    {DType::I8, 1, 0, {"i8", "int8", "char"}},
    {DType::U16, 2, 0, {"u16", "uint16"}},
    {DType::I16, 2, 0, {"i16", "int16", "short"}},
    {DType::U32, 4, 0, {"u32", "uint32"}},
    {DType::I32, 4, 0, {"i32", "int32", "int"}},
    {DType::U64, 8, 0, {"u64", "uint64"}},
    {DType::I64, 8, 0, {"i64", "int64", "long"}},
    {DType::F8E4M3, 1, 0x1p-3, {"f8e4m3", "f8_e4m3", "float8_e4m3fn", "fp8"}},
    {DType::F8E5M2, 1, 0x1p-2, {"f8e5m2", "f8_e5m2", "float8_e5m2"}},
    {DType::F16, 2, 0x1p-10, {"f16", "fp16", "float16", "half"}},
    {DType::BF16, 2, 0x1p-7, {"bf16", "bfloat16"}},
    {DType::F32, 4, 0x1p-23, {"f32", "fp32", "float32", "float"}},
    {DType::F64, 8, 0x1p-52, {"f64", "fp64", "float64", "double"}},
    {DType::C64, 8, 0x1p-23, {"c64", "complex64", "cfloat"}},
}};

const Row& row(DType dtype) {
  for (const auto& candidate : kRows) {
    if (candidate.dtype == dtype) return candidate;
  }
  fail(ErrorKind::Internal, "[base.dtype] no row for dtype {}", static_cast<int>(dtype));
}

}  // namespace

std::size_t size_of(DType dtype) { return row(dtype).bytes; }
std::string_view to_string(DType dtype) { return row(dtype).names[0]; }
double epsilon(DType dtype) { return row(dtype).epsilon; }
bool is_floating(DType dtype) { return row(dtype).epsilon > 0; }

std::optional<DType> parse_dtype(std::string_view text) {
  const auto lower = lowercase(text);
  for (const auto& candidate : kRows) {
    for (auto name : candidate.names) {
      if (!name.empty() && name == lower) return candidate.dtype;
    }
  }
  return std::nullopt;
}

}  // namespace ubique
