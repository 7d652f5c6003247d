// SPDX-License-Identifier: Apache-2.0
// Any bytes as a NIfTI volume: an Input error, or voxels that fit their shape and an affine that
// makes sense; the voxels survive gzip and being written and read again.
#include <cmath>
#include <span>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/archive/gzip.h"
#include "ubique/io/scans/nifti.h"

using namespace ubique;
using fuzz::bytes_of;
using fuzz::require;

namespace {

void examine(const io::NiftiImage& image) {
  const auto& header = image.header;
  const auto count = header.shape[0] * header.shape[1] * header.shape[2] * header.volumes;
  require(count > 0);
  require(image.bytes.size() == static_cast<std::size_t>(count) * size_of(header.dtype));
  require(io::to_f32(image).size() == static_cast<std::size_t>(count));
  for (const auto& row : header.affine) {
    for (const double value : row) require(std::isfinite(value));
  }
  for (const double value : header.spacing) require(value > 0 && std::isfinite(value));
  require(std::isfinite(header.slope) && std::isfinite(header.inter) && header.slope != 0);
}

void examine_gzipped(const io::NiftiImage& image, std::span<const std::byte> file) {
  std::string packed;
  const auto keep = [&](std::span<const std::byte> piece) { packed += fuzz::text_of(piece); };
  io::GzipWriter writer(keep, 1);
  writer.write(file);
  writer.finish();
  require(io::parse_nifti(bytes_of(packed), "packed").bytes == image.bytes);
}

/// False where rounding to f32 could turn a valid affine into one that the reader refuses.
bool is_far_from_absurd(const io::Affine& affine) {
  for (const auto& row : affine) {
    for (const double value : row) {
      if (std::abs(value) > 1e4 || (value != 0 && std::abs(value) < 1e-2)) return false;
    }
  }
  return true;
}

void examine_rewritten(const io::NiftiImage& image) {
  const auto& header = image.header;
  auto file = io::nifti_file_start(header, header.dtype);
  file += fuzz::text_of(image.bytes);
  const auto again = io::parse_nifti(bytes_of(file), "rewritten");
  require(again.bytes == image.bytes && again.header.dtype == header.dtype);
  require(again.header.shape == header.shape && again.header.volumes == header.volumes);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      const double before = header.affine[row][column], after = again.header.affine[row][column];
      require(std::abs(after - before) <= 1e-6 * std::abs(before));
    }
  }
}

}  // namespace

void fuzz::test_input(std::span<const std::byte> input) {
  const auto image = io::parse_nifti(input, "fuzz");
  examine(image);
  if (!io::is_gzip(input)) examine_gzipped(image, input);
  if (is_far_from_absurd(image.header.affine)) examine_rewritten(image);
}
