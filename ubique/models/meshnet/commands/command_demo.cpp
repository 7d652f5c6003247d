// SPDX-License-Identifier: Apache-2.0
// `ubique demo meshnet`: makes synthetic heads, trains, scores unseen heads and segments one, with
// the same code as the single commands.
#include <fmt/format.h>

#include "ubique/data/scans/study/folder_scan.h"
#include "ubique/engine/walk/demo.h"
#include "ubique/models/meshnet/commands/commands.h"
#include "ubique/models/meshnet/train/task.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;
using engine::demo_request;

/// Settings of the training. Lesions are about 1 % of a head: with the paper's bg_weight so short a
/// run may end predicting background only.
constexpr std::pair<const char*, const char*> kTraining[] = {
    {"channels", "5"},    {"shape", "48,48,48"},   {"spacing", "4"}, {"size_bins", "quartiles"},
    {"epochs", "30"},     {"validate_every", "5"}, {"lr", "0.02"},   {"warmup", "0.1"},
    {"bg_weight", "0.3"},
};

engine::DemoFlags training_flags(const fs::path& heads, const fs::path& folder) {
  engine::DemoFlags flags(std::begin(kTraining), std::end(kTraining));
  flags.emplace_back("data", heads.string());
  flags.emplace_back("cache", (folder / "cache").string());
  return flags;
}

engine::Outcome demo_meshnet(const engine::Request& request) {
  const auto folder = request.output.empty() ? fs::path("demo") / "meshnet" : request.output;
  const auto heads = folder / "heads";
  const auto made =
      synth_command().run(demo_request(request, {{"count", "60"}, {"size", "48"}}, heads, false));
  if (made.code != ExitCode::Ok) return made;

  const auto trained = engine::train_demo(
      demo_request(request, training_flags(heads, folder), folder / "run"), make_task);
  if (trained.interrupted) return engine::interrupted_demo();
  auto score = demo_request(request, {{"data", heads.string()}, {"size_bins", "quartiles"}},
                            folder / "scores");
  score.model = trained.best_checkpoint.string();
  const auto scores = evaluate_command().run(score);

  auto segment = demo_request(request, {}, folder / "segmented");
  segment.model = score.model;
  segment.inputs = {data::open_cohort(heads).subjects.front().image.string()};
  const auto segmented = run_command().run(segment);

  engine::Outcome outcome;
  outcome.json = json_document("demo", 1);
  outcome.json["scores"] = scores.json["summary"];
  outcome.json["run"] = segmented.json["scans"];
  outcome.json["report"] = trained.report.string();
  outcome.text = fmt::format(
      "Heads that the network never saw:\n\n{}\nOne head, segmented in its own space:\n\n{}\n"
      "report:  {}\npicture: {}\nmodel:   {}\n",
      scores.text, segmented.text, trained.report.string(), (segment.output).string(), score.model);
  outcome.code = segmented.code;
  return outcome;
}

}  // namespace

engine::Command demo_command() {
  return {.verb = "demo",
          .summary = "train MeshNet-5 on synthetic heads, score it on unseen ones, segment one",
          .examples = {{"ubique demo meshnet", "about a minute and a half on two cores"},
                       {"ubique demo meshnet --device sham", "the code that a Mac would run"}},
          .run = demo_meshnet};
}

}  // namespace ubique::meshnet
