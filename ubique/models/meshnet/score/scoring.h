// SPDX-License-Identifier: Apache-2.0
// Scores of many subjects: computed, summarised, and written as a table, CSV and JSON.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ubique/base/terminal/progress.h"
#include "ubique/base/text/json_fwd.h"
#include "ubique/data/scans/study/subject.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/models/meshnet/score/metrics.h"
#include "ubique/models/meshnet/use/scan_segmenter.h"

namespace ubique::meshnet {

/// Names of the scores, in the order of every table: dice (lesion), macro_dice, avd, mcc.
std::vector<std::string> score_names();
double score_of(const SubjectScore& score, std::string_view name);

struct ScoringOptions {
  int threads = 1;
  data::ComponentPolicy components;
  ProgressStyle progress = ProgressStyle::Silent;
  std::function<bool()> stop;
};

/// A subject's score as ranks send it to each other, and back.
Json to_json(const SubjectScore& score);
SubjectScore read_subject_score(const Json& json);

struct Scoring {
  std::vector<SubjectScore> scores;
  std::vector<data::UnusableSubject> failed;
};

/// Segments each subject's scan, conformed for the network without the cache, and compares it with
/// the mask on that grid; all ranks, each its share of the subjects. A subject that cannot be read,
/// or has no mask, is listed in `failed`.
Scoring score_subjects(ScanSegmenter& segmenter, const MeshNetConfig& network,
                       std::span<const data::Subject> subjects,
                       std::span<const std::string> size_bins, const ScoringOptions& options);

/// Means over the subjects; infinite AVDs (empty truth) are left out.
engine::Scores mean_scores(std::span<const SubjectScore> scores);

/// Mean, standard deviation, median and quartiles, of all subjects and of each size bin.
std::string score_table(std::span<const SubjectScore> scores);
Json scores_json(std::span<const SubjectScore> scores);
std::string scores_csv(std::span<const SubjectScore> scores);

}  // namespace ubique::meshnet
