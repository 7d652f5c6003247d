// SPDX-License-Identifier: Apache-2.0
// Checks of data type, shape, scaling and data offset.
#include "ubique/io/scans/nifti_header.h"

#include <cmath>
#include <string_view>

#include "ubique/base/error.h"
#include "ubique/io/scans/nifti_affine.h"
#include "ubique/io/scans/nifti_fields.h"
#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {
namespace {

constexpr double kLargestExtensions = 1U << 30U;  // bytes before the voxels

struct NiftiType {
  std::int64_t number;
  DType dtype;
};

constexpr NiftiType kNiftiTypes[] = {
    {2, DType::U8},   {4, DType::I16},   {8, DType::I32},   {16, DType::F32},   {64, DType::F64},
    {256, DType::I8}, {512, DType::U16}, {768, DType::U32}, {1024, DType::I64}, {1280, DType::U64},
};

struct RefusedType {
  std::int64_t number;
  std::string_view name;
};

constexpr RefusedType kRefusedTypes[] = {
    {0, "unknown"},     {1, "bit"},           {32, "complex64"},    {128, "RGB24"},
    {1536, "float128"}, {1792, "complex128"}, {2048, "complex256"}, {2304, "RGBA32"},
};

DType stored_type(const NiftiFields& fields, const std::string& name) {
  for (const auto& row : kNiftiTypes) {
    if (row.number == fields.datatype) return row.dtype;
  }
  std::string_view known = "of no known name";
  for (const auto& row : kRefusedTypes) {
    if (row.number == fields.datatype) known = row.name;
  }
  fail(ErrorKind::Input,
       "[io.nifti] {}: cannot read voxels of this type; got {} (number {}), expected whole numbers "
       "of 8 to 64 bits, float32 or float64.",
       name, known, fields.datatype);
}

void take_shape(NiftiHeader& header, const NiftiFields& fields, const std::string& name) {
  Shape beyond;
  header.shape = {1, 1, 1};
  for (std::int64_t axis = 1; axis <= fields.dim[0]; ++axis) {
    const auto extent = fields.dim[static_cast<std::size_t>(axis)];
    check(extent >= 1, ErrorKind::Input,
          "[io.nifti] {}: dimension {} makes no sense; got {} voxels, expected at least 1. Is its "
          "header damaged?",
          name, axis, extent);
    if (axis <= 3) {
      header.shape[static_cast<std::size_t>(axis - 1)] = extent;
    } else {
      beyond.push_back(extent);
    }
  }
  const auto volumes = element_count(beyond);
  check(volumes.has_value(), ErrorKind::Input,
        "[io.nifti] {}: the dimensions make no sense; got {} volumes, expected fewer than 2^63.",
        name, shape_text(beyond));
  header.volumes = *volumes;
}

/// Slope 0 or not finite means "not scaled"; then the intercept means nothing.
void take_scaling(NiftiHeader& header, const NiftiFields& fields, const std::string& name) {
  if (fields.slope == 0 || !std::isfinite(fields.slope)) return;
  check(std::isfinite(fields.inter), ErrorKind::Input,
        "[io.nifti] {}: the scaling makes no sense; got a slope of {} with an intercept of {}, "
        "expected a finite one.",
        name, fields.slope, fields.inter);
  header.slope = fields.slope;
  header.inter = fields.inter;
  header.scaled = fields.slope != 1 || fields.inter != 0;
}

std::uint64_t data_bytes_of(const NiftiHeader& header, const std::string& name) {
  const Shape shape = {header.shape[0], header.shape[1], header.shape[2], header.volumes};
  const auto bytes = byte_count(header.dtype, shape);
  check(bytes.has_value(), ErrorKind::Input,
        "[io.nifti] {}: the dimensions make no sense; got {} of {}, expected fewer than 2^63 "
        "bytes. Is its header damaged?",
        name, shape_text(shape), to_string(header.dtype));
  return static_cast<std::uint64_t>(*bytes);
}

std::uint64_t data_begin_of(const NiftiFields& fields, const std::string& name) {
  const double least = fields.paired ? 0 : nifti_start_bytes(fields.version);
  check(fields.vox_offset >= least && fields.vox_offset <= kLargestExtensions, ErrorKind::Input,
        "[io.nifti] {}: the place of the voxels (vox_offset) makes no sense; got {}, expected {} "
        "or a little more. Is its header damaged?",
        name, fields.vox_offset, least);
  return static_cast<std::uint64_t>(fields.vox_offset);
}

}  // namespace

NiftiContent parse_nifti_header(std::span<const std::byte> start, const std::string& name) {
  const auto fields = parse_nifti_fields(start, name);
  NiftiContent content;
  auto& header = content.header;
  header.version = fields.version;
  header.swapped = fields.swapped;
  header.dtype = stored_type(fields, name);
  header.description = fields.description;
  header.intent_name = fields.intent_name;
  take_shape(header, fields, name);
  content.data_bytes = data_bytes_of(header, name);
  take_scaling(header, fields, name);
  set_affine(header, fields, name);
  content.paired = fields.paired;
  content.data_begin = data_begin_of(fields, name);
  return content;
}

void check_size(const NiftiContent& content, const NiftiSource& source) {
  const auto& shape = content.header.shape;
  const auto voxels = element_count({shape[0], shape[1], shape[2]});
  check(voxels && *voxels <= kMostVoxels, ErrorKind::Input,
        "[io.nifti] {}: too many voxels; got {}, expected at most {} in a volume. Resample or crop "
        "it first.",
        source.name(), shape_text({shape[0], shape[1], shape[2]}), kMostVoxels);
  if (const auto packed = source.packed_bytes()) {
    check_inflation(*packed, content.data_begin + content.data_bytes,
                    fmt::format("[io.nifti] {}", source.name()));
  }
}

std::optional<std::int64_t> nifti_datatype(DType dtype) {
  for (const auto& row : kNiftiTypes) {
    if (row.dtype == dtype) return row.number;
  }
  return std::nullopt;
}

}  // namespace ubique::io
