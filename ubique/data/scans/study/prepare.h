// SPDX-License-Identifier: Apache-2.0
// Prepares a subject for a network: the image conformed and normalised, the mask on the same grid.
// Takes NIfTI scans, and arc-meshchop's npz samples, which are prepared already.
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
  double low_quantile = 0.05, high_quantile = 0.95;  ///< fractions, for Quantile
  int classes = 2;  ///< 2: mask > 0. More: the mask file holds labels 0 to classes - 1.
  int threads = 1;
};

struct PreparedSample {
  Volume image;
  std::optional<LabelMap> mask;
};

/// An Input error in one subject's files: a caller may skip that subject and continue.
class UnusableScan : public Error {
 public:
  explicit UnusableScan(const std::string& message) : Error(ErrorKind::Input, message) {}
};

/// UnusableScan for a file that cannot be used, or a sample prepared for another shape.
PreparedSample prepare_sample(const Subject& subject, const PrepareOptions& options);

/// UnusableScan for a subject without a mask.
void require_mask(const Subject& subject);

/// Reads the headers only, which is fast for a whole study. Logs each file that is not a scan, has
/// several volumes or a mask on another grid, and ends in one Input error that counts them.
void check_subjects(const std::vector<Subject>& subjects, const ConformTarget& target);

}  // namespace ubique::data
