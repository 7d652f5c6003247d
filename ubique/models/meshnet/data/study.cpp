// SPDX-License-Identifier: Apache-2.0
// Reads the settings, opens the cohort and makes or loads its splits.
#include "ubique/models/meshnet/data/study.h"

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/data/scans/study/folder_scan.h"
#include "ubique/data/scans/study/splits_file.h"

namespace ubique::meshnet {
namespace {

constexpr std::size_t kPaperScans = 223;
constexpr const char* kDroppedAcquisition = "turbo_spin_echo";

data::SizeBins parse_size_bins(const std::string& text) {
  if (text == "paper") return data::SizeBins::Paper;
  check(text == "quartiles", ErrorKind::Usage,
        "[meshnet.study] unknown size_bins; got '{}', expected paper or quartiles.", text);
  return data::SizeBins::Quartiles;
}

void check_paper(const data::Cohort& cohort) {
  std::size_t dropped = 0;
  for (const auto& subject : cohort.subjects) {
    if (subject.acquisition == kDroppedAcquisition) ++dropped;
  }
  check(
      cohort.subjects.size() == kPaperScans && dropped == 0, ErrorKind::Input,
      "[meshnet.study] not the paper's scans; got {} with {} turbo spin echo, expected {} without "
      "any. Leave out --paper-parity for a study of your own.",
      cohort.subjects.size(), dropped, kPaperScans);
}

std::vector<std::int64_t> lesion_sizes(const data::Cohort& cohort) {
  std::vector<std::int64_t> sizes;
  for (const auto& subject : cohort.subjects) sizes.push_back(subject.lesion_voxels);
  return sizes;
}

/// Stratified by lesion size and acquisition; a study too small for that by acquisition alone, or
/// not at all, with a warning.
data::Splits stratified_splits(const data::Cohort& cohort, const StudySettings& settings) {
  std::vector<std::string> acquisitions, one_stratum(cohort.subjects.size(), "all");
  for (const auto& subject : cohort.subjects) acquisitions.push_back(subject.acquisition);
  const auto folds = [&](const std::vector<std::string>& labels) {
    return data::nested_folds(labels, settings.outer_folds, settings.inner_folds);
  };
  for (const auto& labels : {data::strata(cohort, settings.bins), acquisitions}) {
    try {
      return folds(labels);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Usage) throw;
      log::warn("{} Stratifying by fewer criteria.", error.what());
    }
  }
  return folds(one_stratum);
}

void check_fold(const char* key, std::int64_t fold, std::size_t folds) {
  check(fold >= 0 && fold < static_cast<std::int64_t>(folds), ErrorKind::Usage,
        "[meshnet.study] no such fold; got {} {}, expected 0 to {}.", key, fold,
        static_cast<std::int64_t>(folds) - 1);
}

/// Where arc-meshchop keeps its data set, if nothing else is named.
std::string study_folder(const Config& config) {
  constexpr const char* kUsual = "data/arc";
  check(config.has("data") || std::filesystem::exists(kUsual), ErrorKind::Usage,
        "[meshnet.data] which scans? got no --data-dir, and there is no {}; give -d FOLDER. "
        "`ubique data meshnet synth -o heads` makes some.",
        kUsual);
  return config.get<std::string>("data", kUsual);
}

}  // namespace

std::vector<engine::Option> data_options() {
  return {
      {"-d,--data-dir,--data", "data", "PATH",
       "dataset_info.json, images/ + masks/, BIDS or .npz folder"},
      {"--suffix", "suffix", "NAME", "BIDS scans to take: T2w, T1w, FLAIR"},
  };
}

std::vector<engine::Option> fold_options() {
  return {
      {"--outer-fold", "outer_fold", "N", "which fold is the test set (0)"},
      {"--inner-fold", "inner_fold", "N", "which fold of the rest is for validation (0)"},
      {"--outer-folds", "outer_folds", "N", "number of folds (3)"},
      {"--inner-folds", "inner_folds", "N", "number of folds of the rest (3)"},
      {"--splits", "splits", "FILE", "folds to use, as arc-meshchop saves them"},
      {"--size-bins", "size_bins", "NAME", "strata by lesion size: paper or quartiles"},
      {"--paper-parity", "paper_parity", "", "insist on the paper's 223 scans"},
  };
}

std::vector<engine::Option> intensity_options() {
  return {
      {"--normalization", "normalization", "NAME", "min_max, quantile, z_score or none"},
      {"--low-quantile", "low_quantile", "SHARE", "for quantile: the quantile mapped to 0 (0.05)"},
      {"--high-quantile", "high_quantile", "SHARE",
       "for quantile: the quantile mapped to 1 (0.95)"},
  };
}

StudySettings read_study_settings(const Config& config) {
  StudySettings settings;
  settings.folder = study_folder(config);
  settings.suffix = config.get<std::string>("suffix", settings.suffix);
  settings.splits = config.get<std::string>("splits", "");
  settings.bins = parse_size_bins(config.get<std::string>("size_bins", "paper"));
  settings.outer_folds = config.get("outer_folds", 3);
  settings.inner_folds = config.get("inner_folds", 3);
  settings.outer_fold = config.get<std::int64_t>("outer_fold", 0);
  settings.inner_fold = config.get<std::int64_t>("inner_fold", 0);
  settings.paper_parity = config.get("paper_parity", false);
  return settings;
}

Study open_study(const StudySettings& settings) {
  Study study;
  study.cohort = data::open_cohort(settings.folder, {.suffix = settings.suffix});
  data::require_masks(study.cohort);
  data::measure_lesions(study.cohort);
  if (settings.paper_parity) check_paper(study.cohort);
  study.size_bins = data::size_bins(lesion_sizes(study.cohort), settings.bins);
  if (settings.splits.empty()) {
    study.splits = stratified_splits(study.cohort, settings);
    for (const auto& subject : study.cohort.subjects) {
      study.splits.subject_ids.push_back(subject.id);
    }
  } else {
    study.splits = data::read_splits(settings.splits, study.cohort);
  }
  check_fold("outer_fold", settings.outer_fold, study.splits.outer.size());
  return study;
}

data::InnerFold inner_fold(const Study& study, const StudySettings& settings) {
  const auto& outer = study.splits.outer.at(static_cast<std::size_t>(settings.outer_fold));
  if (outer.inner.empty()) {
    return {study.splits.train_of(static_cast<std::size_t>(settings.outer_fold)), {}};
  }
  check_fold("inner_fold", settings.inner_fold, outer.inner.size());
  return outer.inner[static_cast<std::size_t>(settings.inner_fold)];
}

std::vector<data::Subject> pick(const data::Cohort& cohort, const data::Indices& indices) {
  std::vector<data::Subject> subjects;
  for (const auto index : indices) {
    subjects.push_back(cohort.subjects.at(static_cast<std::size_t>(index)));
  }
  return subjects;
}

}  // namespace ubique::meshnet
