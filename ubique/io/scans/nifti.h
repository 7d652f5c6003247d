// SPDX-License-Identifier: Apache-2.0
// NIfTI-1 and NIfTI-2 volumes (.nii, .nii.gz, .hdr/.img pairs), read and written: both byte orders,
// every integer and float type. The header is checked completely before it is used. Orientation and
// resampling are in data/scans.
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

/// Voxel (i, j, k, 1) to millimetres (x right, y anterior, z superior); row by row.
using Affine = std::array<std::array<double, 4>, 4>;

/// Which part of the header gave the affine, in order of preference.
enum class AffineSource { Sform, Qform, Spacing };

struct NiftiHeader {
  int version = 1;           ///< 1 or 2
  bool swapped = false;      ///< the file has the other byte order
  DType dtype = DType::F32;  ///< of the stored values
  std::array<std::int64_t, 3> shape{};
  std::int64_t volumes = 1;                ///< product of the dimensions after the third
  std::array<double, 3> spacing{1, 1, 1};  ///< mm, converted from the file's unit
  double slope = 1, inter = 0;             ///< value = stored * slope + inter
  bool scaled = false;  ///< slope is finite and not 0, and the two are not 1 and 0
  Affine affine{};
  AffineSource affine_source = AffineSource::Spacing;
  int qform_code = 0, sform_code = 0;
  std::string description;
  std::string intent_name;  ///< what the values are; at most 15 bytes are written
};

struct NiftiScaling {
  double slope = 1, inter = 0;
};

struct NiftiImage {
  NiftiHeader header;
  std::vector<std::byte> bytes;  ///< stored values in this machine's byte order; i is fastest
};

/// Reads the header only; a .gz is inflated no further.
NiftiHeader read_nifti_header(const std::filesystem::path& path);

/// Input error that names the file, what was found and what was expected, for anything that is not
/// a volume of plain numbers: other formats by name (DICOM, MGZ, a web page), truncated data or
/// gzip, dimensions that are zero, negative or implausible, complex and RGB types, spacing or
/// affine that is zero, infinite or singular, more than kMostVoxels, gzip streams that grow beyond
/// what scans do. Never allocates more than the file can fill.
NiftiImage read_nifti(const std::filesystem::path& path);

/// The same from memory, gzipped or not; error messages call the file `name`.
NiftiImage parse_nifti(std::span<const std::byte> file, const std::string& name);

/// stored * slope + inter, as nibabel computes it: in double, then rounded to f32; unscaled values
/// are converted directly.
std::vector<float> to_f32(const NiftiImage& image);

/// Atomic. Writes NIfTI-1 (NIfTI-2 if a dimension does not fit), gzipped when the name ends in .gz.
/// `like` gives shape, volumes, affine (as sform, and as qform if it has no shear), codes, spacing
/// (unless it contradicts the affine), description and intent_name; `dtype` and `values` (i
/// fastest) are what is stored. An affine without any code gets sform code 2 (aligned), because
/// programs ignore code 0. `scaling`, not `like`, gives slope and inter; NIfTI-1 stores them as
/// f32. Usage error for the name of a pair (.hdr, .img).
void write_nifti(const std::filesystem::path& path, const NiftiHeader& like, DType dtype,
                 std::span<const std::byte> values, int gzip_level = 6,
                 const NiftiScaling& scaling = {});

/// Everything that write_nifti() puts before the voxels. Internal error for an impossible header.
std::string nifti_file_start(const NiftiHeader& like, DType dtype,
                             const NiftiScaling& scaling = {});

/// The content of a scan's file as a stream, inflated if it is gzipped (decided by its first bytes,
/// not by its name).
class NiftiSource {
 public:
  explicit NiftiSource(const std::filesystem::path& path);
  NiftiSource(std::span<const std::byte> file, std::string name);

  const std::string& name() const { return name_; }
  std::uint64_t position() const { return position_; }
  /// The bytes of a gzipped file; nothing for one that is not packed.
  std::optional<std::uint64_t> packed_bytes() const;
  /// An upper bound of the bytes that are still to come.
  std::uint64_t most_left() const;
  /// Fills `out` as far as the content reaches; returns the number of bytes.
  std::size_t read(std::span<std::byte> out);
  void skip(std::uint64_t count);
  /// Call after the last read: checks a gzip stream's checksum, which is at its end.
  void check_end();

 private:
  std::optional<MappedFile> map_;
  std::span<const std::byte> file_;
  std::string name_;
  std::optional<GzipReader> gzip_;
  std::uint64_t position_ = 0;  // in the content
};

}  // namespace ubique::io
