// SPDX-License-Identifier: Apache-2.0
// Opens a study from a folder or file, whatever its layout.
#pragma once

#include <filesystem>

#include "ubique/data/scans/study/bids.h"
#include "ubique/data/scans/study/subject.h"

namespace ubique::data {

/// Every .nii or .nii.gz of `images`, sorted by name, with the file of `masks` that has the same
/// stem or that stem followed by _mask, -mask, _lesion, _lesion_mask, _seg, _label or _labels.
/// A scan without a mask is kept; a mask without a scan is a warning. Input error if there are no
/// scans, or no mask matches any of them.
Cohort scan_pairs(const std::filesystem::path& images, const std::filesystem::path& masks);

/// A manifest (the file, or a folder with dataset_info.json), a folder with images/ and masks/, a
/// folder of arc-meshchop's npz samples, or a BIDS folder, tried in this order. Input error that
/// lists what was looked for.
Cohort open_cohort(const std::filesystem::path& path, const BidsOptions& options = {});

}  // namespace ubique::data
