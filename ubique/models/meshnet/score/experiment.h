// SPDX-License-Identifier: Apache-2.0
// Results of many runs: each subject's scores pooled over the restarts, then summarised over all
// subjects, as in the paper's protocol; and a paired comparison with another experiment.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/models/meshnet/score/metrics.h"

namespace ubique::meshnet {

/// One trained and tested network: fold_F_restart_R/results.json.
struct RunRecord {
  std::int64_t outer_fold = 0, restart = 0;
  std::uint64_t seed = 0;
  double train_loss = 0, seconds = 0;
  std::string checkpoint;
  /// Score name to one value per subject, in the order of subject_ids; may be infinite.
  std::map<std::string, std::vector<double>> scores;
  std::vector<std::string> subject_ids;
  std::vector<std::int64_t> subject_indices;
  std::string network;                      ///< "meshnet-26"
  std::optional<std::uint32_t> split_seed;  ///< of the folds; nothing: not stated
};

Json to_json(const RunRecord& record);
RunRecord read_run_record(const std::filesystem::path& path);

enum class RestartPolicy { Mean, Median, Best };
RestartPolicy parse_restart_policy(const std::string& text);  ///< mean, median, best

/// One value per subject, pooled over the restarts of its test fold.
using SubjectValues = std::map<std::string, double>;
SubjectValues pool_subjects(const std::vector<RunRecord>& records, const std::string& score,
                            RestartPolicy policy);

/// The whole experiment as JSON: settings, every run, and the pooled values of each score.
Json experiment_json(const std::vector<RunRecord>& records, RestartPolicy policy,
                     const Json& settings);

/// A paired comparison with a reference, subject by subject: two-sided Wilcoxon, Holm-corrected
/// over the scores. Input error if they have fewer than two subjects in common.
struct Comparison {
  std::string score;
  std::size_t subjects = 0;
  double difference = 0;  ///< mean of ours minus theirs
  double p = 1, p_holm = 1;
};
std::vector<Comparison> compare_experiments(const Json& ours, const Json& reference);

/// experiment_results.json of a folder, or the file itself.
Json read_experiment(const std::filesystem::path& path);

std::string experiment_table(const Json& experiment);
std::string comparison_table(const std::vector<Comparison>& comparisons);

}  // namespace ubique::meshnet
