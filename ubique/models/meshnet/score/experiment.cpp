// SPDX-License-Identifier: Apache-2.0
// Run records and experiments as JSON, pooling of restarts, comparison and tables.
#include "ubique/models/meshnet/score/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/json.h"
#include "ubique/models/meshnet/score/scoring.h"
#include "ubique/models/meshnet/score/statistics.h"

namespace ubique::meshnet {
namespace {

Json values_json(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) {
    json.push_back(std::isfinite(value) ? Json(value) : Json("inf"));
  }
  return json;
}

double value_of(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::infinity();
}

double mean_of(const std::vector<double>& values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double value) { return std::isfinite(value); });
  return finite.empty() ? 0 : summarize(finite).mean;
}

/// AVD is an error: the smallest is best.
double best_of(const std::vector<double>& values, const std::string& score) {
  return score == "avd" ? *std::min_element(values.begin(), values.end())
                        : *std::max_element(values.begin(), values.end());
}

double pool(std::vector<double> values, const std::string& score, RestartPolicy policy) {
  if (policy == RestartPolicy::Best) return best_of(values, score);
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return std::numeric_limits<double>::infinity();
  const auto summary = summarize(values);
  return policy == RestartPolicy::Mean ? summary.mean : summary.median;
}

}  // namespace

RestartPolicy parse_restart_policy(const std::string& text) {
  if (text == "mean") return RestartPolicy::Mean;
  if (text == "median") return RestartPolicy::Median;
  check(text == "best", ErrorKind::Usage,
        "[meshnet.experiment] how to take restarts together? got '{}', expected mean, median or "
        "best.",
        text);
  return RestartPolicy::Best;
}

Json to_json(const RunRecord& record) {
  auto json = json_document("meshnet_run", 1);
  json["outer_fold"] = record.outer_fold;
  json["restart"] = record.restart;
  json["seed"] = record.seed;
  json["network"] = record.network;
  if (record.split_seed) json["split_seed"] = *record.split_seed;
  for (const auto& [score, values] : record.scores) json["test_" + score] = mean_of(values);
  json["final_train_loss"] = record.train_loss;
  json["checkpoint_path"] = record.checkpoint;
  json["duration_seconds"] = record.seconds;
  for (const auto& [score, values] : record.scores) {
    json["per_subject_" + score] = values_json(values);
  }
  json["subject_indices"] = record.subject_indices;
  json["subject_ids"] = record.subject_ids;
  return json;
}

RunRecord read_run_record(const std::filesystem::path& path) {
  const auto json = parse_json(read_file(path), path.string());
  RunRecord record;
  try {
    record.outer_fold = json.at("outer_fold");
    record.restart = json.at("restart");
    record.seed = json.at("seed");
    record.train_loss = json.at("final_train_loss");
    record.checkpoint = json.value("checkpoint_path", "");
    record.network = json.value("network", "");  // arc-meshchop does not say
    if (json.contains("split_seed")) record.split_seed = json["split_seed"].get<std::uint32_t>();
    record.seconds = json.value("duration_seconds", 0.0);
    record.subject_ids = json.at("subject_ids").get<std::vector<std::string>>();
    record.subject_indices = json.at("subject_indices").get<std::vector<std::int64_t>>();
    for (const auto& name : score_names()) {
      if (!json.contains("per_subject_" + name)) continue;  // arc-meshchop has no macro Dice
      for (const auto& value : json["per_subject_" + name]) {
        record.scores[name].push_back(value_of(value));
      }
    }
  } catch (const Json::exception& error) {
    fail(ErrorKind::Input, "[meshnet.experiment] {} is no result of a run; {}.", path.string(),
         error.what());
  }
  for (const auto& [name, values] : record.scores) {
    check(values.size() == record.subject_ids.size(), ErrorKind::Input,
          "[meshnet.experiment] {}: per_subject_{} does not fit; got {} values, expected one for "
          "each of {} subjects.",
          path.string(), name, values.size(), record.subject_ids.size());
  }
  return record;
}

SubjectValues pool_subjects(const std::vector<RunRecord>& records, const std::string& score,
                            RestartPolicy policy) {
  std::map<std::string, std::vector<double>> by_subject;
  for (const auto& record : records) {
    const auto found = record.scores.find(score);
    if (found == record.scores.end()) continue;
    for (std::size_t i = 0; i < record.subject_ids.size(); ++i) {
      by_subject[record.subject_ids[i]].push_back(found->second[i]);
    }
  }
  SubjectValues pooled;
  for (auto& [subject, values] : by_subject) {
    pooled[subject] = pool(std::move(values), score, policy);
  }
  return pooled;
}

Json experiment_json(const std::vector<RunRecord>& records, RestartPolicy policy,
                     const Json& settings) {
  auto json = json_document("meshnet_experiment", 1);
  json["settings"] = settings;
  json["num_runs"] = records.size();
  json["scores"] = Json::object();
  for (const auto& name : score_names()) {
    const auto pooled = pool_subjects(records, name, policy);
    if (pooled.empty()) continue;
    std::vector<double> finite;
    Json subjects = Json::object();
    for (const auto& [subject, value] : pooled) {
      subjects[subject] = std::isfinite(value) ? Json(value) : Json("inf");
      if (std::isfinite(value)) finite.push_back(value);
    }
    const auto summary = finite.empty() ? Summary{} : summarize(finite);
    json["scores"][name] = {{"mean", summary.mean},     {"std", summary.std},
                            {"median", summary.median}, {"q1", summary.lower},
                            {"q3", summary.upper},      {"subjects", subjects}};
  }
  json["runs"] = Json::array();
  for (const auto& record : records) json["runs"].push_back(to_json(record));
  return json;
}

std::vector<Comparison> compare_experiments(const Json& ours, const Json& reference) {
  std::vector<Comparison> comparisons;
  std::vector<double> p_values;
  for (const auto& name : score_names()) {
    if (!ours["scores"].contains(name) || !reference["scores"].contains(name)) continue;
    const auto& mine = ours["scores"][name]["subjects"];
    const auto& theirs = reference["scores"][name]["subjects"];
    std::vector<double> a, b;
    double sum = 0;
    for (const auto& [subject, value] : mine.items()) {
      if (!theirs.contains(subject)) continue;
      const double x = value_of(value), y = value_of(theirs[subject]);
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      a.push_back(x);
      b.push_back(y);
      sum += x - y;
    }
    check(a.size() >= 2, ErrorKind::Input,
          "[meshnet.experiment] nothing to compare; got {} subjects that both experiments tested, "
          "expected the same study.",
          a.size());
    const double p = wilcoxon(a, b).p;
    comparisons.push_back({name, a.size(), sum / static_cast<double>(a.size()), p, p});
    p_values.push_back(p);
  }
  const auto corrected = holm(p_values);
  for (std::size_t i = 0; i < comparisons.size(); ++i) comparisons[i].p_holm = corrected[i];
  return comparisons;
}

Json read_experiment(const std::filesystem::path& path) {
  const auto file = std::filesystem::is_directory(path) ? path / "experiment_results.json" : path;
  const auto json = parse_json(read_file(file), file.string());
  const bool ours = json.is_object() && json.value("schema", "") == "ubique.meshnet_experiment";
  check(ours && json.contains("scores"), ErrorKind::Input,
        "[meshnet.experiment] {} holds no results of an experiment; expected the "
        "experiment_results.json that 'ubique experiment meshnet' writes.",
        file.string());
  return json;
}

std::string experiment_table(const Json& experiment) {
  Table table({"score", "subjects", "mean (std)", "median (quartiles)"});
  for (const auto& [name, row] : experiment["scores"].items()) {
    const auto number = [&row = row](const char* key) { return row[key].get<double>(); };
    table.add_row(
        {name, std::to_string(row["subjects"].size()),
         fmt::format("{:.4f} ({:.4f})", number("mean"), number("std")),
         fmt::format("{:.4f} ({:.4f} to {:.4f})", number("median"), number("q1"), number("q3"))});
  }
  return table.to_text();
}

std::string comparison_table(const std::vector<Comparison>& comparisons) {
  Table table({"score", "subjects", "difference", "p (Wilcoxon)", "p (Holm)"});
  for (const auto& row : comparisons) {
    table.add_row({row.score, std::to_string(row.subjects), fmt::format("{:+.4f}", row.difference),
                   fmt::format("{:.4g}", row.p), fmt::format("{:.4g}", row.p_holm)});
  }
  return table.to_text();
}

}  // namespace ubique::meshnet
