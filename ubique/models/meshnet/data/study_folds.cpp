// SPDX-License-Identifier: Apache-2.0
// The folds of a study: read from a file or computed, and what small studies allow.
#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/data/scans/study/splits_file.h"
#include "ubique/models/meshnet/data/study.h"

namespace ubique::meshnet {
namespace {

constexpr std::uint32_t kUsualSeed = 42;  // arc-meshchop's folds

/// Scans outside the test part of the largest outer fold.
std::int64_t smallest_training_part(std::int64_t scans, int outer_folds) {
  return scans - (scans + outer_folds - 1) / outer_folds;
}

/// Options that hold out one scan at a time, for studies too small for the usual folds.
std::string leave_one_out(std::int64_t scans) {
  if (scans == 2) return "--outer-folds 2 --all-train";
  return fmt::format("--outer-folds {} --inner-folds {}", scans, scans - 1);
}

void check_fold_counts(std::int64_t scans, const StudySettings& settings) {
  const auto outer = settings.outer_folds, inner = settings.inner_folds;
  check(outer >= 2 && (inner == 0 || inner >= 2), ErrorKind::Usage,
        "[meshnet.study] impossible folds; got {} outer and {} inner, expected at least 2 of each, "
        "or 0 inner folds for no validation.",
        outer, inner);
  check(scans >= 2, ErrorKind::Input,
        "[meshnet.study] one scan is not enough to train and test on; got 1, expected at least 2, "
        "of which one is held out. Without folds `data meshnet prepare`, `evaluate meshnet --part "
        "all` and `run meshnet` take a single scan.");
  check(scans >= outer, ErrorKind::Usage,
        "[meshnet.study] {} scans cannot be divided into {} folds; expected at least {} scans. "
        "Hold out one at a time: {}.",
        scans, outer, outer, leave_one_out(scans));
}

/// As many as asked for, or none if a training part has fewer scans than that.
int possible_inner_folds(std::int64_t scans, const StudySettings& settings) {
  const auto available = smallest_training_part(scans, settings.outer_folds);
  if (available >= settings.inner_folds) return settings.inner_folds;
  log::warn(
      "[meshnet.study] {} scans are too few for {} inner folds in each of {}: there is no "
      "validation part.",
      scans, settings.inner_folds, settings.outer_folds);
  return 0;
}

/// Stratified by lesion size and acquisition; a study too small for that by acquisition alone, or
/// not at all, with a warning.
data::Splits stratified_splits(const data::Cohort& cohort, const StudySettings& settings) {
  const auto scans = static_cast<std::int64_t>(cohort.subjects.size());
  check_fold_counts(scans, settings);
  const auto inner = possible_inner_folds(scans, settings);
  std::vector<std::string> acquisitions, one_stratum(cohort.subjects.size(), "all");
  for (const auto& subject : cohort.subjects) acquisitions.push_back(subject.acquisition);
  const auto folds = [&](const std::vector<std::string>& labels) {
    return data::nested_folds(labels, settings.outer_folds, inner, split_seed(settings));
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

data::Splits splits_in_file(const data::Cohort& cohort, const StudySettings& settings) {
  auto splits = data::read_splits(settings.splits, cohort);
  const auto asked = settings.split_seed.value_or(splits.seed);
  check(asked == splits.seed, ErrorKind::Usage,
        "[meshnet.study] {} holds folds of another seed; got {}, expected {}. Leave out one of "
        "--splits and --split-seed.",
        settings.splits.string(), splits.seed, asked);
  return splits;
}

}  // namespace

std::uint32_t split_seed(const StudySettings& settings) {
  if (settings.split_seed) return *settings.split_seed;
  return settings.splits.empty() ? kUsualSeed : data::read_splits(settings.splits).seed;
}

data::Splits split_cohort(const data::Cohort& cohort, const StudySettings& settings) {
  data::Splits splits;
  if (settings.splits.empty()) {
    splits = stratified_splits(cohort, settings);
    for (const auto& subject : cohort.subjects) splits.subject_ids.push_back(subject.id);
  } else {
    splits = splits_in_file(cohort, settings);
  }
  check_fold("outer_fold", settings.outer_fold, splits.outer.size());
  return splits;
}

data::InnerFold inner_fold(const Study& study, const StudySettings& settings) {
  const auto fold = static_cast<std::size_t>(settings.outer_fold);
  const auto& outer = study.splits.outer.at(fold);
  if (outer.inner.empty()) {
    auto train = study.splits.train_of(fold);
    const auto scans = static_cast<std::int64_t>(study.cohort.subjects.size());
    check(settings.inner_folds == 0 || !settings.splits.empty(), ErrorKind::Usage,
          "[meshnet.study] too few scans for a validation part; got {} beside the test fold, "
          "expected at least {} for as many inner folds. Train without validation (--all-train){}.",
          train.size(), settings.inner_folds,
          scans > 2 ? fmt::format(", or hold out one at a time: {}", leave_one_out(scans)) : "");
    return {std::move(train), {}};
  }
  check_fold("inner_fold", settings.inner_fold, outer.inner.size());
  return outer.inner[static_cast<std::size_t>(settings.inner_fold)];
}

}  // namespace ubique::meshnet
