// SPDX-License-Identifier: Apache-2.0
// Any bytes as a NIfTI volume: an Input error, or voxels that fit their shape in a place that makes
// sense, which are the same when the file is gzipped and when they are written and read again.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ubique/base/error.h"
#include "ubique/io/archive/gzip.h"
#include "ubique/io/scans/nifti.h"
#include "ubique/io/scans/nifti_writer.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

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
  const auto keep = [&](std::span<const std::byte> piece) {
    packed.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  };
  io::GzipWriter writer(keep, 1);
  writer.write(file);
  writer.finish();
  require(io::parse_nifti(bytes_of(packed), "packed").bytes == image.bytes);
}

/// Rounding to f32 may carry an affine over the border of what makes sense.
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
  file.append(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  try {
    const auto image = io::parse_nifti(file, "fuzz");
    examine(image);
    if (!io::is_gzip(file)) examine_gzipped(image, file);
    if (is_far_from_absurd(image.header.affine)) examine_rewritten(image);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}
