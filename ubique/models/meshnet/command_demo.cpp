// SPDX-License-Identifier: Apache-2.0
// `ubique demo meshnet`: heads, training, unseen heads scored, one of them segmented. Everything a
// lab would do, in minutes and without a download, by the same commands.
#include <fmt/format.h>

#include "ubique/base/log.h"
#include "ubique/data/scans/folder_scan.h"
#include "ubique/engine/session.h"
#include "ubique/models/meshnet/commands.h"
#include "ubique/models/meshnet/task.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

/// The demo's settings as flags of the commands it runs. Lesions are a hundredth of a head: with
/// the paper's bg_weight a run this short may stay where nothing is a lesion.
constexpr std::pair<const char*, const char*> kTraining[] = {
    {"channels", "5"},    {"shape", "48,48,48"},   {"spacing", "4"}, {"size_bins", "quartiles"},
    {"epochs", "30"},     {"validate_every", "5"}, {"lr", "0.02"},   {"warmup", "0.1"},
    {"bg_weight", "0.3"},
};

engine::Request request_for(const engine::Request& request, const Json& flags) {
  engine::Request own = request;
  own.config = Config();
  for (const auto& [key, value] : flags.items()) {
    own.config.set_flag(key, value.get<std::string>());
  }
  return own;
}

/// The same for what computes on the device that the person named.
engine::Request device_request_for(const engine::Request& request, const Json& flags) {
  auto own = request_for(request, flags);
  own.config.set_flag("device", request.config.get<std::string>("device", "auto"));
  return own;
}

engine::TrainResult train_demo(const engine::Request& request, const fs::path& heads,
                               const fs::path& folder) {
  Json flags = {{"data", heads.string()}, {"cache", (folder / "cache").string()}};
  for (const auto& [key, value] : kTraining) flags[key] = value;
  const auto own = device_request_for(request, flags);
  auto wishes = plan::read_wishes(own.config);
  const auto task = make_task(own);
  own.config.finish();
  const auto session = engine::open_session(task->model().needs(), wishes, request.fallback);
  log::info("Using device: {}", session.device.facts.label());
  engine::TrainOptions options;
  options.folder = folder / "run";
  options.resume = fs::exists(options.folder);
  options.progress = request.progress;
  options.stop_requested = request.stop_requested;
  return engine::train(*task, session.plan, options);
}

engine::Outcome demo_meshnet(const engine::Request& request) {
  const auto folder = request.output.empty() ? fs::path("demo") / "meshnet" : request.output;
  const auto heads = folder / "heads";
  auto make_heads = request_for(request, {{"count", "60"}, {"size", "48"}});
  make_heads.output = heads;
  const auto made = synth_command().run(make_heads);
  if (made.code != ExitCode::Ok) return made;

  const auto trained = train_demo(request, heads, folder);
  engine::Outcome outcome;
  outcome.json = json_document("demo", 1);
  if (trained.interrupted) {
    outcome.text = "interrupted; the same command goes on where it was\n";
    outcome.code = ExitCode::Interrupted;
    return outcome;
  }
  auto score = device_request_for(request, {{"data", heads.string()}, {"size_bins", "quartiles"}});
  score.model = trained.best_checkpoint.string();
  score.output = folder / "scores";
  const auto scores = evaluate_command().run(score);

  auto segment = device_request_for(request, Json::object());
  segment.model = score.model;
  segment.inputs = {data::open_cohort(heads).subjects.front().image.string()};
  segment.output = folder / "segmented";
  const auto segmented = run_command().run(segment);

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
