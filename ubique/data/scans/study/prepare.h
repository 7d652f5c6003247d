// SPDX-License-Identifier: Apache-2.0
// From a subject's files to what a network learns from: the image conformed and normalised, the
// mask on the same grid. Knows NIfTI scans, and arc-meshchop's samples, which are prepared already.
#pragma once

#include <filesystem>
#include <optional>

#include "ubique/base/error.h"
#include "ubique/data/scans/conform/conform.h"
#include "ubique/data/scans/conform/normalize.h"
#include "ubique/data/scans/study/subject.h"

namespace ubique::data {

struct PrepareOptions {
  ConformTarget target;
  Normalization normalization = Normalization::MinMax;
  double low_quantile = 0.05, high_quantile = 0.95;  ///< shares, for Quantile
  int classes = 2;  ///< 2: mask > 0. More: the mask file holds labels 0 to classes - 1.
  int threads = 1;
};

struct PreparedSample {
  Volume image;
  std::optional<LabelMap> mask;
};

/// An Input error of one subject's files: the other subjects may be fine, and a batch goes on.
class UnusableScan : public Error {
 public:
  explicit UnusableScan(const std::string& message) : Error(ErrorKind::Input, message) {}
};

/// UnusableScan for a file that cannot be used, and for a sample prepared for another shape.
PreparedSample prepare_sample(const Subject& subject, const PrepareOptions& options);

/// Looks at the headers alone, in moments for a whole study: what is no scan, has more than one
/// volume, or a mask of another grid. Logs each and ends in one Input error that counts them.
void check_subjects(const std::vector<Subject>& subjects, const ConformTarget& target);

/// Is it one of arc-meshchop's samples, by its name?
bool is_npz_name(const std::filesystem::path& path);

/// Keys image and mask, as (D, H, W) or (1, D, H, W); the format knows no affine, so it is that of
/// 1 mm voxels. Input error for anything else.
PreparedSample read_npz_sample(const std::filesystem::path& path, int classes = 2);

/// Every .npz of a folder, by name; each holds its mask. Input error if there are none.
Cohort scan_npz(const std::filesystem::path& folder);
bool holds_npz(const std::filesystem::path& folder);

}  // namespace ubique::data
