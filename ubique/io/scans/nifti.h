// SPDX-License-Identifier: Apache-2.0
// The content of a scan's file, from front to back, whether it is gzipped or not (its first bytes
// decide, not its name). Knows nothing of headers.
// NIfTI-1 and NIfTI-2 volumes (.nii, .nii.gz, .hdr/.img pairs), both byte orders, every integer and
// float type. The header is checked completely before anything in it is trusted. Knows the file,
// not what a brain is: orientation and resampling are data/scans.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ubique/base/files/file.h"
#include "ubique/base/numbers/dtype.h"
#include "ubique/io/archive/gzip.h"

namespace ubique::io {

class NiftiSource {
 public:
  explicit NiftiSource(const std::filesystem::path& path);
  NiftiSource(std::span<const std::byte> file, std::string name);

  const std::string& name() const { return name_; }
  std::uint64_t position() const { return position_; }
  /// No more than so many bytes can still come.
  std::uint64_t most_left() const;
  /// Fills `out`, or as much of it as there still is; returns how much.
  std::size_t read(std::span<std::byte> out);
  void skip(std::uint64_t count);
  /// After the last read: a gzip stream's checksum is at its end.
  void check_end();

 private:
  std::optional<MappedFile> map_;
  std::span<const std::byte> file_;
  std::string name_;
  std::optional<GzipReader> gzip_;
  std::uint64_t position_ = 0;  // in the content
};

/// Voxel (i, j, k, 1) to millimetres (x right, y anterior, z superior); row by row.
using Affine = std::array<std::array<double, 4>, 4>;

/// Which of the header's three ways gave the affine; the order of preference.
enum class AffineSource { Sform, Qform, Spacing };

struct NiftiHeader {
  int version = 1;           ///< 1 or 2
  bool swapped = false;      ///< the file has the other byte order
  DType dtype = DType::F32;  ///< of the stored values
  std::array<std::int64_t, 3> shape{};
  std::int64_t volumes = 1;                ///< product of the dimensions beyond the third
  std::array<double, 3> spacing{1, 1, 1};  ///< mm, whatever unit the file has it in
  double slope = 1, inter = 0;             ///< value = stored * slope + inter
  bool scaled = false;  ///< the file asks for that: slope not 0, finite, and not 1 with inter 0
  Affine affine{};
  AffineSource affine_source = AffineSource::Spacing;
  int qform_code = 0, sform_code = 0;
  std::string description;
};

struct NiftiScaling {
  double slope = 1, inter = 0;
};

struct NiftiImage {
  NiftiHeader header;
  std::vector<std::byte> bytes;  ///< stored values in this machine's byte order; i is fastest
};

/// The header alone; a .gz is inflated no further than that.
NiftiHeader read_nifti_header(const std::filesystem::path& path);

/// Input error that names the file, what was found and what was expected, for anything that is not
/// a volume of plain numbers: other formats by name (DICOM, MGZ, a text page), truncated data or
/// gzip, dimensions that are zero, negative or absurd, complex and RGB types, spacing or affine
/// that is zero, infinite or singular. No allocation larger than the file can fill.
NiftiImage read_nifti(const std::filesystem::path& path);

/// The same from memory (inflated or not); `name` stands for the file in messages.
NiftiImage parse_nifti(std::span<const std::byte> file, const std::string& name);

/// Stored values times slope plus inter, as nibabel computes it: in double, then to f32; unscaled
/// integers are converted directly.
std::vector<float> to_f32(const NiftiImage& image);

/// Atomic. Writes NIfTI-1 (NIfTI-2 if a dimension does not fit), gzipped when the name ends in .gz.
/// `like` gives shape, volumes, affine (as sform, and as qform where it has no shear), codes,
/// spacing (where it agrees with the affine, which decides) and description; `dtype` and `values`
/// (i fastest) are what is stored. An affine without any code gets sform code 2 (aligned), or no
/// program would look at it. Usage error for the name of a pair (.hdr, .img).
/// `scaling`, not `like`, gives the slope and inter that readers apply; NIfTI-1 keeps them as f32.
void write_nifti(const std::filesystem::path& path, const NiftiHeader& like, DType dtype,
                 std::span<const std::byte> values, int gzip_level = 6,
                 const NiftiScaling& scaling = {});

}  // namespace ubique::io
