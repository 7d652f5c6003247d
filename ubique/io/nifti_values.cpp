// SPDX-License-Identifier: Apache-2.0
// Stored values of any type as f32.
#include "ubique/io/nifti.h"

#include <cstdint>
#include <cstring>

#include "ubique/base/error.h"

namespace ubique::io {
namespace {

template <typename T>
std::vector<float> stored_to_f32(const NiftiImage& image) {
  std::vector<float> out(image.bytes.size() / sizeof(T));
  const auto& header = image.header;
  const auto* bytes = image.bytes.data();
  for (std::size_t i = 0; i < out.size(); ++i) {
    T stored;
    std::memcpy(&stored, bytes + i * sizeof(T), sizeof(T));
    out[i] = header.scaled
                 ? static_cast<float>(static_cast<double>(stored) * header.slope + header.inter)
                 : static_cast<float>(stored);
  }
  return out;
}

}  // namespace

std::vector<float> to_f32(const NiftiImage& image) {
  switch (image.header.dtype) {
    case DType::U8:
      return stored_to_f32<std::uint8_t>(image);
    case DType::I8:
      return stored_to_f32<std::int8_t>(image);
    case DType::U16:
      return stored_to_f32<std::uint16_t>(image);
    case DType::I16:
      return stored_to_f32<std::int16_t>(image);
    case DType::U32:
      return stored_to_f32<std::uint32_t>(image);
    case DType::I32:
      return stored_to_f32<std::int32_t>(image);
    case DType::U64:
      return stored_to_f32<std::uint64_t>(image);
    case DType::I64:
      return stored_to_f32<std::int64_t>(image);
    case DType::F32:
      return stored_to_f32<float>(image);
    case DType::F64:
      return stored_to_f32<double>(image);
    default:
      break;
  }
  fail(ErrorKind::Internal, "[io.nifti] no scan has voxels of {}.", to_string(image.header.dtype));
}

}  // namespace ubique::io
