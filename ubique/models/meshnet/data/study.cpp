// SPDX-License-Identifier: Apache-2.0
// Reads the settings and opens the cohort.
#include "ubique/models/meshnet/data/study.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/data/scans/study/folder_scan.h"

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

/// Of the subjects whose lesions are measured.
std::vector<std::int64_t> lesion_sizes(const data::Cohort& cohort) {
  std::vector<std::int64_t> sizes;
  for (const auto& subject : cohort.subjects) {
    if (subject.lesion_voxels >= 0) sizes.push_back(subject.lesion_voxels);
  }
  return sizes;
}

/// "" for a size that is not known.
std::vector<std::string> known_size_bins(const data::Cohort& cohort, data::SizeBins bins) {
  const auto names = data::size_bins(lesion_sizes(cohort), bins);
  std::vector<std::string> result;
  std::size_t next = 0;
  for (const auto& subject : cohort.subjects) {
    result.push_back(subject.lesion_voxels < 0 ? "" : names[next++]);
  }
  return result;
}

/// NumPy's generator takes 32 bits.
std::optional<std::uint32_t> read_split_seed(const Config& config, const std::string& key) {
  const auto seed = config.find<std::int64_t>(key);
  if (!seed) return std::nullopt;
  constexpr std::int64_t kMost = 0xFFFFFFFFLL;
  check(*seed >= 0 && *seed <= kMost, ErrorKind::Usage,
        "[meshnet.study] {} is out of range; got {}, expected 0 to {}.", key, *seed, kMost);
  return static_cast<std::uint32_t>(*seed);
}

bool has_mask(const data::Subject& subject) { return subject.mask.has_value(); }

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
  return engine::in_group(engine::kDataGroup,
                          {
                              {"-d,--data-dir,--data", "data", "PATH",
                               "dataset_info.json, images/ + masks/, BIDS or .npz folder"},
                              {"--suffix", "suffix", "NAME", "BIDS scans to take: T2w, T1w, FLAIR"},
                          });
}

std::vector<engine::Option> fold_options() {
  return engine::in_group(
      engine::kDataGroup,
      {
          {"--outer-fold", "outer_fold", "N", "which fold is the test set (0)"},
          {"--inner-fold", "inner_fold", "N", "which fold of the rest is for validation (0)"},
          {"--outer-folds", "outer_folds", "N", "number of folds (3)"},
          {"--inner-folds", "inner_folds", "N", "number of folds of the rest (3)"},
          {"--splits", "splits", "FILE", "folds to use, as arc-meshchop saves them"},
          {"--split-seed", "split_seed", "N", "seed that draws the folds (42)"},
          {"--size-bins", "size_bins", "NAME", "strata by lesion size: paper or quartiles"},
          {"--paper-parity", "paper_parity", "", "insist on the paper's 223 scans"},
      });
}

std::vector<engine::Option> preprocessing_options() {
  return engine::in_group(
      engine::kDataGroup,
      {
          {"--resample-method", "resample_method", "NAME",
           "scipy_zoom, nibabel_conform, brainchop or none"},
          {"--shape", "shape", "LIST", "voxels of the cube: 256,256,256"},
          {"--spacing", "spacing", "MM",
           "millimetres per voxel of the cube, or of each axis: 0.9,1.1,1 (1)"},
          {"--normalization", "normalization", "NAME", "min_max, quantile, z_score or none"},
          {"--low-quantile", "low_quantile", "SHARE",
           "for quantile: the quantile mapped to 0 (0.05)"},
          {"--high-quantile", "high_quantile", "SHARE",
           "for quantile: the quantile mapped to 1 (0.95)"},
      });
}

StudySettings read_study_settings(const Config& config, const std::string& seed_key) {
  StudySettings settings;
  settings.folder = study_folder(config);
  settings.suffix = config.get<std::string>("suffix", settings.suffix);
  settings.splits = config.get<std::string>("splits", "");
  settings.bins = parse_size_bins(config.get<std::string>("size_bins", "paper"));
  settings.outer_folds = config.get("outer_folds", 3);
  settings.inner_folds = config.get("inner_folds", 3);
  settings.outer_fold = config.get<std::int64_t>("outer_fold", 0);
  settings.inner_fold = config.get<std::int64_t>("inner_fold", 0);
  settings.split_seed = read_split_seed(config, seed_key);
  settings.paper_parity = config.get("paper_parity", false);
  return settings;
}

Study open_study(const StudySettings& settings, StudyUse use) {
  Study study;
  auto& cohort = study.cohort;
  cohort = data::open_cohort(settings.folder, {.suffix = settings.suffix});
  if (use == StudyUse::Folds || std::ranges::none_of(cohort.subjects, has_mask)) {
    data::require_masks(cohort);
  }
  const auto unusable = data::measure_lesions(cohort);
  if (use == StudyUse::Folds) data::refuse_unusable(unusable, cohort.subjects.size());
  if (settings.paper_parity) check_paper(cohort);
  study.size_bins = known_size_bins(cohort, settings.bins);
  if (use == StudyUse::Folds) study.splits = split_cohort(cohort, settings);
  return study;
}

std::string unusable_text(const std::vector<data::UnusableSubject>& unusable) {
  constexpr std::size_t kMostNamed = 20;
  std::vector<std::string> names;
  for (const auto& subject : unusable) names.push_back(subject.id);
  return names.empty() ? ""
                       : fmt::format("; cannot be used: {}", data::first_few(names, kMostNamed));
}

Json unusable_json(const std::vector<data::UnusableSubject>& unusable) {
  Json json = Json::array();
  for (const auto& [id, error] : unusable) json.push_back({{"id", id}, {"error", error}});
  return json;
}

std::vector<data::Subject> pick(const data::Cohort& cohort, const data::Indices& indices) {
  std::vector<data::Subject> subjects;
  for (const auto index : indices) {
    subjects.push_back(cohort.subjects.at(static_cast<std::size_t>(index)));
  }
  return subjects;
}

}  // namespace ubique::meshnet
