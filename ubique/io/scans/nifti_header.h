// SPDX-License-Identifier: Apache-2.0
// Parses and checks a NIfTI header completely; the promises of NiftiHeader hold for every result.
// Looks at the header only, not at whether the file has the voxels.
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
  bool paired = false;           ///< the voxels are in a second file (.img)
  std::uint64_t data_begin = 0;  ///< offset in the file that has the voxels
  std::uint64_t data_bytes = 0;
};

/// `start`: the first nifti_start_bytes() of the file, or all of a shorter one.
NiftiContent parse_nifti_header(std::span<const std::byte> start, const std::string& name);

/// A volume becomes f32: 4 GiB. The largest scans in use have 1024 voxels per side.
constexpr std::int64_t kMostVoxels = 1LL << 30U;

/// Input error for a volume of more than kMostVoxels, and for a gzip stream that grows beyond what
/// scans do (check_inflation). Call it before reading on from the header.
void check_size(const NiftiContent& content, const NiftiSource& source);

/// NIfTI's number for a dtype; nothing if it has none.
std::optional<std::int64_t> nifti_datatype(DType dtype);

}  // namespace ubique::io
