// SPDX-License-Identifier: Apache-2.0
// A study in a BIDS folder: picks the scan of each session and the mask that belongs to it.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/data/scans/study/subject.h"

namespace ubique::data {

struct BidsOptions {
  std::string suffix = "T2w";  ///< of the scans: T2w, T1w, FLAIR ...
};

/// One subject per session that has a scan sub-*/[ses-*/]anat/sub-*_SUFFIX.nii[.gz]; its id is
/// sub-X or sub-X_ses-Y.
///
/// A mask is a file below derivatives/, or beside the scan, with the same sub entity (and the same
/// ses, if it has one), a suffix of mask, roi, dseg, seg, label, lesion or lesions, and "lesion" or
/// "stroke" anywhere in its name (desc-lesion_mask, T2w_lesion, label-lesion_roi) or label-L.
/// Entities that mask and scan share (acq, run, space ...) must have the same value. A mask with a
/// space entity does not match a scan without one, unless that space is orig, native, individual,
/// scanner or the scan's suffix.
///
/// Of several scans, the one whose mask matches best is taken, else the first by name. The
/// acquisition is the entity acq; the Aphasia Recovery Cohort's spc3p2, spc3 and tse3 are renamed
/// space_2x, space_no_accel and turbo_spin_echo, as in arc-meshchop.
///
/// Input error if the folder has no sub-* folder or no scan of that suffix.
Cohort scan_bids(const std::filesystem::path& folder, const BidsOptions& options = {});

/// True if the folder has at least one folder sub-*.
bool looks_like_bids(const std::filesystem::path& folder);

}  // namespace ubique::data
