// SPDX-License-Identifier: Apache-2.0
// A NIfTI header, checked completely: what nifti.h promises about it holds for every one that comes
// out of here. Knows the header alone, not whether the file has the voxels it speaks of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ubique/io/scans/nifti.h"

namespace ubique::io {

struct NiftiContent {
  NiftiHeader header;
  bool paired = false;           ///< the voxels are in a file of their own (.img)
  std::uint64_t data_begin = 0;  ///< in the file that has the voxels
  std::uint64_t data_bytes = 0;
};

/// From the first nifti_start_bytes() of a file, or the whole of a shorter one.
NiftiContent parse_nifti_header(std::span<const std::byte> start, const std::string& name);

/// The format's number of a type; nothing for one that it has no number for.
std::optional<std::int64_t> nifti_datatype(DType dtype);

}  // namespace ubique::io
