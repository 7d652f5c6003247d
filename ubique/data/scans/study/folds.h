// SPDX-License-Identifier: Apache-2.0
// Cross-validation folds stratified by lesion size and acquisition, with exactly the indices of
// scikit-learn's StratifiedKFold(shuffle=True), so that results can be compared subject by subject
// with arc-meshchop's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ubique/data/scans/study/subject.h"

namespace ubique::data {

/// Indices into the cohort, ascending.
using Indices = std::vector<std::int64_t>;

struct Fold {
  Indices train, test;
};

struct InnerFold {
  Indices train, val;
};

/// One outer fold: `test` is for the final score, `inner` splits the rest for model selection.
struct OuterFold {
  Indices test;
  std::vector<InnerFold> inner;
};

struct Splits {
  std::uint32_t seed = 42;
  std::vector<std::string> labels;  ///< the stratum of each subject
  std::vector<OuterFold> outer;
  std::vector<std::string> subject_ids;  ///< empty: not stated

  std::size_t inner_count() const { return outer.empty() ? 0 : outer.front().inner.size(); }
  /// The subjects that outer fold `fold` trains on: those of its inner folds, or without inner
  /// folds all that are not in its test part.
  Indices train_of(std::size_t fold) const;
};

/// Fold f tests the subjects that scikit-learn assigns to it. A stratum with fewer members than
/// folds is a warning; Usage error if every stratum is that small, or `folds` < 2.
std::vector<Fold> stratified_folds(std::span<const std::string> labels, int folds,
                                   std::uint32_t seed = 42);

/// Outer folds, and inner folds of each outer training part (0: none), all with the same seed.
Splits nested_folds(std::span<const std::string> labels, int outer = 3, int inner = 3,
                    std::uint32_t seed = 42);

/// Upper limits of the size bins. Paper: the quartiles of the Aphasia Recovery Cohort in native
/// voxels (33,619, 67,891, 128,314), which arc-meshchop uses for every cohort. Quartiles: of the
/// cohort at hand, for scans of another resolution.
enum class SizeBins { Paper, Quartiles };

/// "Q1" to "Q4" for each size; a size on a border belongs to the lower bin.
std::vector<std::string> size_bins(std::span<const std::int64_t> voxels, SizeBins bins);

/// "Q3_space_2x": size bin and acquisition of each subject. Input error for a size that was not
/// counted (see measure_lesions).
std::vector<std::string> strata(const Cohort& cohort, SizeBins bins = SizeBins::Paper);

}  // namespace ubique::data
