// SPDX-License-Identifier: Apache-2.0
// The study a network is trained on: its scans and their split into folds, read from settings.
// Shared by train, evaluate and experiment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ubique/base/config/config.h"
#include "ubique/data/scans/study/folds.h"
#include "ubique/engine/contract/family.h"
#include "ubique/models/meshnet/net/config.h"

namespace ubique::meshnet {

struct StudySettings {
  std::filesystem::path folder;  ///< manifest, BIDS folder, or folder with images/ and masks/
  std::string suffix = "T2w";    ///< of BIDS scans
  std::filesystem::path splits;  ///< a file of splits to use; empty = computed
  data::SizeBins bins = data::SizeBins::Paper;
  int outer_folds = 3, inner_folds = 3;
  std::int64_t outer_fold = 0, inner_fold = 0;
  std::optional<std::uint32_t> split_seed;  ///< of the folds; 42, or that of the file, if not given
  bool paper_parity = false;                ///< refuse any study but the paper's 223 scans
};

struct Study {
  data::Cohort cohort;
  data::Splits splits;                 ///< empty if no folds were asked for
  std::vector<std::string> size_bins;  ///< of each subject: "Q1" to "Q4"; "" if not measured
};

/// Keys: data, suffix, splits, size_bins, outer_folds, inner_folds, outer_fold, inner_fold,
/// paper_parity, and `seed_key` for the folds: in training `seed` is the weights'. Usage error for
/// invalid values.
StudySettings read_study_settings(const Config& config, const std::string& seed_key = "split_seed");

/// Flags for read_study_settings: where the study is ...
std::vector<engine::Option> data_options();
/// ... and how it is split into folds.
std::vector<engine::Option> fold_options();
/// Flags for a scan's grid and intensities, keys of read_config.
std::vector<engine::Option> preprocessing_options();

/// What a study is opened for.
enum class StudyUse {
  Folds,  ///< to train, or to test on held-out scans: every scan must be usable
  Scans,  ///< scan by scan, whatever their number: those without a usable mask are included
};

/// Opens the cohort, measures lesions that the manifest lacks, and splits it into folds if they are
/// wanted. Input error for missing masks (all of them, or any if folds are wanted), for too few
/// scans and, with paper_parity, for another number or kind of scans. Usage error for more folds
/// than the scans allow; where only the inner ones are too many there are none, with a warning.
Study open_study(const StudySettings& settings, StudyUse use);

/// The seed of the folds: as asked for, that of the file, or 42.
std::uint32_t split_seed(const StudySettings& settings);

/// The folds of a cohort with measured lesions: those of the settings' file, or computed.
data::Splits split_cohort(const data::Cohort& cohort, const StudySettings& settings);

/// The training and validation subjects of the settings' folds. Usage error if there were too few
/// scans for the inner folds.
data::InnerFold inner_fold(const Study& study, const StudySettings& settings);

/// How a command that goes on without unusable scans names them at its end: "; cannot be used:
/// sub-03, sub-07", nothing if there are none; and as JSON, with the reasons.
std::string unusable_text(const std::vector<data::UnusableSubject>& unusable);
Json unusable_json(const std::vector<data::UnusableSubject>& unusable);

/// The subjects with these indices.
std::vector<data::Subject> pick(const data::Cohort& cohort, const data::Indices& indices);

}  // namespace ubique::meshnet
