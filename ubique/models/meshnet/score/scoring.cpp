// SPDX-License-Identifier: Apache-2.0
// Segments and scores subjects, preparing the next while the network runs; formats the scores.
#include "ubique/models/meshnet/score/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <map>

#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/engine/ranks/rank_progress.h"
#include "ubique/models/meshnet/data/preprocess.h"
#include "ubique/models/meshnet/score/statistics.h"

namespace ubique::meshnet {
namespace {

double foreground_mm3(const data::LabelMap& labels, std::int64_t classes) {
  double sum = 0;
  for (const auto& volume : measure_volumes(labels, {}, classes)) sum += volume.mm3;
  return sum;
}

SubjectScore score_subject(ScanSegmenter& segmenter, const MeshNetConfig& network,
                           const data::PreparedSample& sample,
                           const data::ComponentPolicy& components) {
  auto labels = segmenter.label(sample.image);
  data::keep_components(labels, components);
  SubjectScore score;
  score.classes = compare_labels(labels.values, sample.mask->values, network.classes);
  score.truth_mm3 = foreground_mm3(*sample.mask, network.classes);
  score.predicted_mm3 = foreground_mm3(labels, network.classes);
  return score;
}

std::vector<double> finite_values(std::span<const SubjectScore> scores, std::string_view name) {
  std::vector<double> values;
  for (const auto& score : scores) {
    const double value = score_of(score, name);
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

/// Zeros if there are no finite values.
Summary summary_of(const std::vector<double>& values) {
  return values.empty() ? Summary{} : summarize(values);
}

/// All subjects under "all", then each size bin that occurs.
std::vector<std::pair<std::string, std::vector<SubjectScore>>> groups_of(
    std::span<const SubjectScore> scores) {
  std::map<std::string, std::vector<SubjectScore>> bins;
  for (const auto& score : scores) {
    if (!score.size_bin.empty()) bins[score.size_bin].push_back(score);
  }
  std::vector<std::pair<std::string, std::vector<SubjectScore>>> groups = {
      {"all", {scores.begin(), scores.end()}}};
  groups.insert(groups.end(), bins.begin(), bins.end());
  return groups;
}

Json summary_json(std::span<const SubjectScore> scores) {
  Json json = {{"subjects", scores.size()}};
  for (const auto& name : score_names()) {
    const auto summary = summary_of(finite_values(scores, name));
    json[name] = {{"mean", summary.mean},
                  {"std", summary.std},
                  {"median", summary.median},
                  {"q1", summary.lower},
                  {"q3", summary.upper}};
  }
  return json;
}

Scoring scoring_of(const std::vector<Json>& results) {
  Scoring scoring;
  for (const auto& result : results) {
    if (result.is_null()) continue;  // stopped before
    if (result.contains("error")) {
      scoring.failed.push_back({result["id"], result["error"]});
    } else {
      scoring.scores.push_back(read_subject_score(result));
    }
  }
  return scoring;
}

Json number_or_text(double value) { return std::isfinite(value) ? Json(value) : Json("inf"); }

}  // namespace

std::vector<std::string> score_names() { return {"dice", "macro_dice", "avd", "mcc"}; }

double score_of(const SubjectScore& score, std::string_view name) {
  if (name == "dice") return score.lesion_dice();
  if (name == "macro_dice") return score.macro_dice();
  if (name == "avd") return score.avd();
  check(name == "mcc", ErrorKind::Internal, "[meshnet.scores] no score is called '{}'.", name);
  return score.mcc();
}

Json to_json(const SubjectScore& score) {
  Json classes = Json::array();
  for (const auto& c : score.classes) classes.push_back({c.tp, c.fp, c.fn, c.tn});
  return {{"id", score.id},
          {"size_bin", score.size_bin},
          {"classes", classes},
          {"truth_mm3", score.truth_mm3},
          {"predicted_mm3", score.predicted_mm3}};
}

SubjectScore read_subject_score(const Json& json) {
  SubjectScore score;
  score.id = json["id"];
  score.size_bin = json["size_bin"];
  for (const auto& c : json["classes"]) score.classes.push_back({c[0], c[1], c[2], c[3]});
  score.truth_mm3 = json["truth_mm3"];
  score.predicted_mm3 = json["predicted_mm3"];
  return score;
}

Scoring score_subjects(ScanSegmenter& segmenter, const MeshNetConfig& network,
                       std::span<const data::Subject> subjects,
                       std::span<const std::string> size_bins, const ScoringOptions& options) {
  std::vector<std::string> names;
  for (const auto& subject : subjects) names.push_back(subject.id);
  const engine::RankJobs share(std::ssize(subjects), names);
  engine::RankProgress progress({.title = "evaluate",
                                 .total = std::ssize(subjects),
                                 .unit = "scans",
                                 .style = options.progress});
  const auto how = prepare_options(network, options.threads);
  const auto mine = share.mine();
  const auto subject_of = [&](std::size_t k) -> const data::Subject& {
    return subjects[static_cast<std::size_t>(mine[k])];
  };
  const auto prepare = [&](std::size_t next) -> std::future<data::PreparedSample> {
    if (next >= mine.size()) return {};
    return std::async(std::launch::async, [subject = subject_of(next), how] {
      data::require_mask(subject);
      return data::prepare_sample(subject, how);
    });
  };
  std::vector<Json> done;
  auto next = prepare(0);
  for (std::size_t k = 0; k < mine.size() && !(options.stop && options.stop()); ++k) {
    const auto& id = subject_of(k).id;
    auto current = std::move(next);
    next = prepare(k + 1);
    try {
      auto score = score_subject(segmenter, network, current.get(), options.components);
      score.id = id;
      if (!size_bins.empty()) score.size_bin = size_bins[static_cast<std::size_t>(mine[k])];
      progress.advance(1, fmt::format("{} dice {:.3f}", score.id, score.lesion_dice()));
      done.push_back(to_json(score));
    } catch (const data::UnusableScan& error) {
      log::error("{}", error.what());
      progress.advance(1, id + " failed");
      done.push_back({{"id", id}, {"error", error.what()}});
    }
  }
  if (next.valid()) next.wait();
  progress.finish();
  return scoring_of(share.collect(std::move(done)));
}

engine::Scores mean_scores(std::span<const SubjectScore> scores) {
  engine::Scores means;
  for (const auto& name : score_names()) {
    means.emplace_back(name, summary_of(finite_values(scores, name)).mean);
  }
  return means;
}

std::string score_table(std::span<const SubjectScore> scores) {
  Table table({"lesions", "subjects", "Dice (lesion)", "Dice (macro)", "AVD", "MCC",
               "median Dice (quartiles)"});
  for (const auto& [bin, group] : groups_of(scores)) {
    std::vector<std::string> row = {bin, std::to_string(group.size())};
    for (const auto& name : score_names()) {
      const auto summary = summary_of(finite_values(group, name));
      row.push_back(fmt::format("{:.3f} ({:.3f})", summary.mean, summary.std));
    }
    const auto dice = summary_of(finite_values(group, "dice"));
    row.push_back(fmt::format("{:.3f} ({:.3f} to {:.3f})", dice.median, dice.lower, dice.upper));
    table.add_row(std::move(row));
  }
  return table.to_text();
}

Json scores_json(std::span<const SubjectScore> scores) {
  Json json = {{"summary", Json::object()}, {"subjects", Json::array()}};
  for (const auto& [bin, group] : groups_of(scores)) json["summary"][bin] = summary_json(group);
  for (const auto& score : scores) {
    Json row = {{"id", score.id}, {"size_bin", score.size_bin}};
    for (const auto& name : score_names()) row[name] = number_or_text(score_of(score, name));
    row["truth_mm3"] = score.truth_mm3;
    row["predicted_mm3"] = score.predicted_mm3;
    row["class_dice"] = Json::array();
    for (const auto& confusion : score.classes) row["class_dice"].push_back(confusion.dice());
    json["subjects"].push_back(std::move(row));
  }
  return json;
}

std::string scores_csv(std::span<const SubjectScore> scores) {
  std::string text = "subject,size_bin,dice,macro_dice,avd,mcc,truth_mm3,predicted_mm3\n";
  for (const auto& score : scores) {
    text += fmt::format("{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.1f},{:.1f}\n", score.id,
                        score.size_bin, score.lesion_dice(), score.macro_dice(), score.avd(),
                        score.mcc(), score.truth_mm3, score.predicted_mm3);
  }
  return text;
}

}  // namespace ubique::meshnet
