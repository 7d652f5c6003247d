// SPDX-License-Identifier: Apache-2.0
// Writes NIfTI files: the header from a NiftiHeader, then the voxels.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/io/archive/gzip.h"
#include "ubique/io/scans/nifti.h"
#include "ubique/io/scans/nifti_affine.h"
#include "ubique/io/scans/nifti_fields.h"
#include "ubique/io/scans/nifti_header.h"
#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {
namespace {

constexpr std::int64_t kUnitMillimetre = 2, kUnitSecond = 8;
constexpr int kCodeAligned = 2;
constexpr std::size_t kLongestDescription = 79;  // one byte of 80 is the final zero
constexpr std::size_t kLongestIntent = 15;
constexpr double kSameSpacing = 1e-4;

void put_shape(NiftiFields& fields, const NiftiHeader& like) {
  fields.dim = {
      like.volumes > 1 ? 4 : 3, like.shape[0], like.shape[1], like.shape[2], like.volumes, 1, 1, 1};
  const auto [least, most] = std::minmax_element(fields.dim.begin(), fields.dim.end());
  check(*least >= 1, ErrorKind::Internal,
        "[io.nifti] cannot write an empty volume; got {} with {} volumes.",
        shape_text({like.shape.begin(), like.shape.end()}), like.volumes);
  fields.version = *most <= std::numeric_limits<std::int16_t>::max() ? 1 : 2;
}

void put_affine(NiftiFields& fields, const NiftiHeader& like) {
  check_affine(like.affine, ErrorKind::Internal, "the volume to write");
  fields.units = kUnitMillimetre | kUnitSecond;
  fields.pixdim.fill(1);
  const auto lengths = column_lengths(like.affine);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double stated = like.spacing[axis], measured = lengths[axis];
    const bool same = std::abs(stated - measured) <= kSameSpacing * measured;
    fields.pixdim[axis + 1] = same ? stated : measured;
    fields.srow[axis] = like.affine[axis];
  }
  fields.sform_code = like.sform_code > 0   ? like.sform_code
                      : like.qform_code > 0 ? like.qform_code
                                            : kCodeAligned;
  const auto qform = qform_of(like.affine);
  if (!qform) return;  // the affine has shear: qform_code stays 0
  fields.qform_code = like.qform_code;
  fields.pixdim[0] = qform->handedness;
  fields.quaternion = qform->quaternion;
  fields.qoffset = {like.affine[0][3], like.affine[1][3], like.affine[2][3]};
}

void check_name(const std::filesystem::path& path) {
  const auto name = lowercase(path.filename().string());
  for (const auto* ending : {".hdr", ".img", ".hdr.gz", ".img.gz"}) {
    check(!name.ends_with(ending), ErrorKind::Usage,
          "[io.nifti] cannot write {}; header and voxels go into one file, expected a name that "
          "ends in .nii or .nii.gz.",
          path.string());
  }
}

void check_values(const NiftiHeader& like, DType dtype, std::size_t got) {
  const auto expected =
      byte_count(dtype, {like.shape[0], like.shape[1], like.shape[2], like.volumes});
  check(expected.has_value() && got == static_cast<std::uint64_t>(*expected), ErrorKind::Internal,
        "[io.nifti] the voxels do not fit their shape; got {} bytes for {} x {} of {}.", got,
        shape_text({like.shape.begin(), like.shape.end()}), like.volumes, to_string(dtype));
}

}  // namespace

std::string nifti_file_start(const NiftiHeader& like, DType dtype, const NiftiScaling& scaling) {
  const auto number = nifti_datatype(dtype);
  check(number.has_value(), ErrorKind::Internal,
        "[io.nifti] cannot write voxels of {}; expected whole numbers, f32 or f64.",
        to_string(dtype));
  check(scaling.slope != 0 && std::isfinite(scaling.slope) && std::isfinite(scaling.inter),
        ErrorKind::Internal,
        "[io.nifti] cannot write this scaling; got a slope of {} and an intercept of {}, expected "
        "finite ones and no slope of 0.",
        scaling.slope, scaling.inter);
  NiftiFields fields;
  put_shape(fields, like);
  put_affine(fields, like);
  fields.datatype = *number;
  fields.bitpix = static_cast<std::int64_t>(8 * size_of(dtype));
  fields.slope = scaling.slope;
  fields.inter = scaling.inter;
  fields.description = like.description.substr(0, kLongestDescription);
  fields.intent_name = like.intent_name.substr(0, kLongestIntent);
  fields.vox_offset = static_cast<double>(nifti_start_bytes(fields.version));
  return nifti_header_bytes(fields);
}

void write_nifti(const std::filesystem::path& path, const NiftiHeader& like, DType dtype,
                 std::span<const std::byte> values, int gzip_level, const NiftiScaling& scaling) {
  check_name(path);
  const auto start = nifti_file_start(like, dtype, scaling);
  check_values(like, dtype, values.size());
  AtomicFile file(path);
  if (lowercase(path.extension().string()) == ".gz") {
    GzipWriter gzip([&](std::span<const std::byte> piece) { file.write(piece); }, gzip_level);
    gzip.write(std::as_bytes(std::span(start)));
    gzip.write(values);
    gzip.finish();
  } else {
    file.write(start);
    file.write(values);
  }
  file.commit();
}

}  // namespace ubique::io
