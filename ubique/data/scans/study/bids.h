// SPDX-License-Identifier: Apache-2.0
// A study in a BIDS folder: which scan of each session is taken, and which mask belongs to it.
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
/// A mask is a file anywhere below derivatives/, or beside the scan, that names the same sub (and
/// ses, if it names one), ends in mask, roi, dseg, seg, label, lesion or lesions, and says that it
/// is about a lesion: the word "lesion" or "stroke" anywhere in its name (desc-lesion_mask,
/// T2w_lesion, label-lesion_roi) or label-L. It must not contradict the scan: an entity that both
/// have (acq, run, space ...) has one value, and a mask with a space of its own (space-MNI...) is
/// not taken for a scan without one, unless that space is orig, native, individual, scanner or the
/// scan's own suffix.
///
/// Of several scans the one whose mask names it best is taken, else the first by name. The
/// acquisition is the entity acq; the Aphasia Recovery Cohort's spc3p2, spc3 and tse3 are called
/// space_2x, space_no_accel and turbo_spin_echo, as arc-meshchop does.
///
/// Input error if the folder has no sub-* folder or no scan of that suffix.
Cohort scan_bids(const std::filesystem::path& folder, const BidsOptions& options = {});

/// True if the folder has at least one folder sub-*.
bool looks_like_bids(const std::filesystem::path& folder);

}  // namespace ubique::data
