// SPDX-License-Identifier: Apache-2.0
// Samples that arc-meshchop has prepared already, one npz file per subject.
#pragma once

#include <filesystem>

#include "ubique/data/scans/study/prepare.h"

namespace ubique::data {

/// Whether the name is that of an arc-meshchop sample (.npz).
bool is_npz_name(const std::filesystem::path& path);

/// Keys image and mask, as (D, H, W) or (1, D, H, W); the format has no affine, so 1 mm voxels are
/// assumed. Input error for anything else.
PreparedSample read_npz_sample(const std::filesystem::path& path, int classes = 2);

/// Every .npz of a folder, sorted by name; each holds its own mask. Input error if there are none.
Cohort scan_npz(const std::filesystem::path& folder);
bool holds_npz(const std::filesystem::path& folder);

}  // namespace ubique::data
