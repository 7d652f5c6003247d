// SPDX-License-Identifier: Apache-2.0
// The study a network is trained on: its scans and their split into folds, read from settings.
// Shared by train, evaluate and experiment.
#pragma once

#include <filesystem>
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
  bool paper_parity = false;  ///< refuse any study but the paper's 223 scans
};

struct Study {
  data::Cohort cohort;
  data::Splits splits;
  std::vector<std::string> size_bins;  ///< of each subject: "Q1" to "Q4"
};

/// Keys: data, suffix, splits, size_bins, outer_folds, inner_folds, outer_fold, inner_fold,
/// paper_parity. Usage error for invalid values.
StudySettings read_study_settings(const Config& config);

/// Flags for read_study_settings: where the study is ...
std::vector<engine::Option> data_options();
/// ... and how it is split into folds.
std::vector<engine::Option> fold_options();
/// Flags for intensity normalisation, keys of read_config.
std::vector<engine::Option> intensity_options();

/// Opens the cohort, measures lesions that the manifest lacks, and splits it into folds. Input
/// error for missing masks and, with paper_parity, for another number or kind of scans.
Study open_study(const StudySettings& settings);

/// The training and validation subjects of the settings' folds.
data::InnerFold inner_fold(const Study& study, const StudySettings& settings);

/// The subjects with these indices.
std::vector<data::Subject> pick(const data::Cohort& cohort, const data::Indices& indices);

}  // namespace ubique::meshnet
