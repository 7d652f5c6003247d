// SPDX-License-Identifier: Apache-2.0
// `ubique evaluate meshnet`: scores of a network on a study's held-out scans.
#include <fmt/format.h>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/dist/world.h"
#include "ubique/models/meshnet/commands/commands.h"
#include "ubique/models/meshnet/data/study.h"
#include "ubique/models/meshnet/score/scoring.h"
#include "ubique/models/meshnet/use/open.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

std::string read_part(const Config& config) {
  auto part = config.get<std::string>("part", "test");
  check(part == "test" || part == "val" || part == "train" || part == "all", ErrorKind::Usage,
        "[meshnet.evaluate] unknown part; got '{}', expected test, val, train or all.", part);
  return part;
}

data::Indices part_of(const Study& study, const StudySettings& settings, const std::string& part) {
  const auto fold = static_cast<std::size_t>(settings.outer_fold);
  if (part == "test") return study.splits.outer.at(fold).test;
  if (part == "val") return inner_fold(study, settings).val;
  if (part == "train") return study.splits.train_of(fold);
  data::Indices all(study.cohort.subjects.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  return all;
}

engine::Outcome scores_outcome(const Scoring& scoring, std::size_t asked) {
  engine::Outcome outcome;
  outcome.json = json_document("evaluate", 1);
  outcome.json.update(scores_json(scoring.scores));
  outcome.json["failed"] = unusable_json(scoring.failed);
  if (!scoring.scores.empty()) outcome.text = score_table(scoring.scores);
  const auto done = scoring.scores.size() + scoring.failed.size();
  if (scoring.scores.size() < asked) {
    outcome.text += fmt::format("\n{} of {} scans scored{}\n", scoring.scores.size(), asked,
                                unusable_text(scoring.failed));
  }
  if (!scoring.failed.empty()) outcome.code = ExitCode::Input;
  if (done < asked) outcome.code = ExitCode::Interrupted;
  return outcome;
}

/// A failed write is logged and sets the exit code; the scores are still printed.
void write_scores(const fs::path& folder, const Scoring& scoring, engine::Outcome& outcome) {
  try {
    write_file(folder / "scores.csv", scores_csv(scoring.scores));
    write_file(folder / "scores.json", json_text(outcome.json, 2) + "\n");
    outcome.text += fmt::format("\nper subject: {}\n", (folder / "scores.csv").string());
  } catch (const Error& error) {
    log::error("{}", error.what());
    outcome.code = exit_code(error.kind());
  }
}

engine::Outcome evaluate_meshnet(const engine::Request& request) {
  const auto& config = request.config;
  const auto settings = read_study_settings(config);
  const auto part = read_part(config);
  ScoringOptions options;
  options.components = data::parse_component_policy(config.get<std::string>("components", "none"));
  options.progress = request.progress;
  options.stop = request.stop_requested;
  auto file = open_file(request.model);
  if (const auto method = config.find<std::string>("resample_method")) {
    file.config.preprocessing.conform = *method;
  }
  const auto session = open_run_session(file.config, request);
  const auto study = open_study(settings, part == "all" ? StudyUse::Scans : StudyUse::Folds);
  const auto indices = part_of(study, settings, part);
  check(!indices.empty(), ErrorKind::Usage,
        "[meshnet.evaluate] nothing to score; got an empty part '{}', expected test or all.", part);
  if (!request.output.empty()) make_folder(request.output);  // fail now, not after an hour

  options.threads = std::max(1, session.plan().compute_threads.value);
  ScanSegmenter segmenter(file, segmenter_options(session.plan(), session.torch_device()),
                          options.threads);
  std::vector<std::string> bins;
  for (const auto index : indices) bins.push_back(study.size_bins[static_cast<std::size_t>(index)]);
  const auto scoring =
      score_subjects(segmenter, file.config, pick(study.cohort, indices), bins, options);
  auto outcome = scores_outcome(scoring, indices.size());
  outcome.json["model"] = request.model;
  outcome.json["part"] = part;
  outcome.json["device"] = session.facts().label();
  if (!request.output.empty() && dist::world().is_first()) {
    write_scores(request.output, scoring, outcome);
  }
  return outcome;
}

}  // namespace

engine::Command evaluate_command() {
  auto options = data_options();
  for (auto& option : fold_options()) options.push_back(std::move(option));
  options.push_back({"--part", "part", "NAME", "test (default), val, train or all"});
  options.push_back({"--components", "components", "POLICY", "none, largest or min-size:MM3"});
  options.push_back({"--resample-method", "resample_method", "NAME",
                     "instead of the one the network was trained with"});
  return {.verb = "evaluate",
          .summary = "Dice of lesion and macro, AVD, MCC: per subject and lesion size",
          .needs_model = true,
          .options = std::move(options),
          .examples = {{"ubique evaluate meshnet --model runs/lesion/checkpoints/best -d data/arc",
                        "the outer fold's test scans"},
                       {"ubique evaluate meshnet --model net.pt -d data/arc --part all -o scores",
                        "every scan, with scores.csv and scores.json"}},
          .run = evaluate_meshnet};
}

}  // namespace ubique::meshnet
