// SPDX-License-Identifier: Apache-2.0
// The fields of a NIfTI header as they lie in the file, of both versions and byte orders, from
// bytes and back. Judges nothing but what kind of file it is: nifti_header.h does the rest.
// What a file is that was taken for a NIfTI scan and is none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ubique::io {

constexpr std::size_t kNifti1HeaderBytes = 348, kNifti2HeaderBytes = 540;
constexpr std::size_t kNiftiFlagBytes = 4;  ///< behind the header: are there extensions?

struct NiftiFields {
  int version = 1;
  bool swapped = false;  ///< not this machine's byte order
  bool paired = false;   ///< the voxels are in a file of their own (.img)
  std::array<std::int64_t, 8> dim{};
  std::int64_t datatype = 0, bitpix = 0;
  std::array<double, 8> pixdim{};
  double vox_offset = 0;
  double slope = 1, inter = 0;
  std::int64_t units = 0;
  std::string description;
  std::int64_t qform_code = 0, sform_code = 0;
  std::array<double, 3> quaternion{}, qoffset{};
  std::array<std::array<double, 4>, 3> srow{};
};

/// Header and flag: what lies before the voxels of a single file at least.
constexpr std::size_t nifti_start_bytes(int version) {
  return (version == 1 ? kNifti1HeaderBytes : kNifti2HeaderBytes) + kNiftiFlagBytes;
}

/// 1 or 2 by the magic, which is known after nifti_start_bytes(1) bytes; 0 for anything else.
int nifti_version(std::span<const std::byte> start);

/// Input error for what is not NIfTI, naming what it is where that is known.
NiftiFields parse_nifti_fields(std::span<const std::byte> start, const std::string& name);

/// Header and the four bytes that say "no extensions", in this machine's byte order.
std::string nifti_header_bytes(const NiftiFields& fields);

/// Input error that names the format, where its first bytes show it, and what to do.
[[noreturn]] void fail_foreign(std::span<const std::byte> start, const std::string& name);

}  // namespace ubique::io
