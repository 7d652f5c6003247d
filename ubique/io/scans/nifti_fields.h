// SPDX-License-Identifier: Apache-2.0
// The fields of a NIfTI header as stored in the file: both versions, both byte orders, to and from
// bytes. Refuses files that are not NIfTI; nifti_header.h checks the values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ubique::io {

constexpr std::size_t kNifti1HeaderBytes = 348, kNifti2HeaderBytes = 540;
constexpr std::size_t kNiftiFlagBytes = 4;  ///< after the header: are there extensions?

struct NiftiFields {
  int version = 1;
  bool swapped = false;  ///< not this machine's byte order
  bool paired = false;   ///< the voxels are in a second file (.img)
  std::array<std::int64_t, 8> dim{};
  std::int64_t datatype = 0, bitpix = 0;
  std::array<double, 8> pixdim{};
  double vox_offset = 0;
  double slope = 1, inter = 0;
  std::int64_t units = 0;
  std::string description, intent_name;
  std::int64_t qform_code = 0, sform_code = 0;
  std::array<double, 3> quaternion{}, qoffset{};
  std::array<std::array<double, 4>, 3> srow{};
};

/// Header and extension flag: the least that precedes the voxels in a single file.
constexpr std::size_t nifti_start_bytes(int version) {
  return (version == 1 ? kNifti1HeaderBytes : kNifti2HeaderBytes) + kNiftiFlagBytes;
}

/// 1 or 2 by the magic, which lies within the first nifti_start_bytes(1) bytes; 0 if there is none.
int nifti_version(std::span<const std::byte> start);

/// Input error for files that are not NIfTI, naming their format where it is known.
NiftiFields parse_nifti_fields(std::span<const std::byte> start, const std::string& name);

/// Header and the four bytes that say "no extensions", in this machine's byte order.
std::string nifti_header_bytes(const NiftiFields& fields);

}  // namespace ubique::io
