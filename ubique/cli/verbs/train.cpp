// SPDX-License-Identifier: Apache-2.0
// `ubique train FAMILY`: runs the training walk, once or in stages, and reports the result.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/family_verb.h"
#include "ubique/cli/several_ranks.h"
#include "ubique/dist/world.h"
#include "ubique/engine/session/device_summary.h"
#include "ubique/engine/walk/train_walk.h"
#include "ubique/plan/report.h"

namespace ubique::cli {
namespace {

using engine::Family;
using engine::Outcome;
using engine::Request;

std::string scores_text(const engine::Scores& scores) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : scores) parts.push_back(fmt::format("{} {:.4f}", name, value));
  return join(parts, ", ");
}

Json scores_json(const engine::Scores& scores) {
  Json json = Json::object();
  for (const auto& [name, value] : scores) json[name] = value;
  return json;
}

std::string result_text(const engine::TrainResult& result) {
  const char* end = result.interrupted     ? "interrupted; --resume goes on"
                    : result.stopped_early ? "stopped early"
                                           : "finished";
  auto text = fmt::format("{}: {} epochs, {} steps, {:.1f} s, training loss {:.4f}\n", end,
                          result.epochs, result.steps, result.seconds, result.train_loss);
  if (!result.best.empty()) {
    text += fmt::format("best (epoch {}): {}\n", result.best_epoch + 1, scores_text(result.best));
  }
  if (result.skipped_steps > 0) {
    text += fmt::format("skipped steps: {} (non-finite gradients)\n", result.skipped_steps);
  }
  text += fmt::format("memory: predicted {}, measured {}\n", human_bytes(result.predicted_bytes),
                      human_bytes(result.measured_bytes));
  if (!result.best_checkpoint.empty()) {
    text += fmt::format("best checkpoint: {}\n", result.best_checkpoint.string());
  }
  text += fmt::format("last checkpoint: {}\n", result.last_checkpoint.string());
  if (!result.report.empty()) text += fmt::format("report: {}\n", result.report.string());
  return text;
}

Json result_json(const Family& family, const engine::TrainResult& result) {
  auto json = json_document("train", 1);
  json["family"] = family.name();
  json["interrupted"] = result.interrupted;
  json["stopped_early"] = result.stopped_early;
  json["epochs"] = result.epochs;
  json["steps"] = result.steps;
  json["seconds"] = result.seconds;
  json["train_loss"] = result.train_loss;
  json["scores"] = scores_json(result.scores);
  json["best"] = scores_json(result.best);
  json["best_epoch"] = result.best_epoch;
  json["skipped_steps"] = result.skipped_steps;
  json["predicted_bytes"] = result.predicted_bytes;
  json["measured_bytes"] = result.measured_bytes;
  json["best_checkpoint"] = result.best_checkpoint.string();
  json["last_checkpoint"] = result.last_checkpoint.string();
  json["report"] = result.report.string();
  return json;
}

Outcome plan_outcome(const plan::Plan& plan) {
  auto json = json_document("train_plan", 1);
  json["plan"] = plan::to_json(plan);
  return {plan::explain(plan), json, ExitCode::Ok};
}

std::filesystem::path run_folder(const Family& family, const Request& request) {
  return request.output.empty() ? std::filesystem::path("runs") / family.name() : request.output;
}

struct StageResult {
  Outcome outcome;
  std::filesystem::path best;  ///< checkpoint; empty after a dry run
};

StageResult train_once(const Family& family, const Request& request) {
  engine::Session session(request, plan::Mode::Train);
  if (log::wanted(log::Severity::Debug)) {
    log::debug("\n{}", engine::summary_block(session.device(), /*verbose=*/true));
  }
  const auto trained =
      engine::train_walk(session, request, [&](const Request& own) { return family.task(own); });
  if (trained.dry_run) return {plan_outcome(session.plan()), {}};
  const auto& result = trained.result;
  const auto code = result.interrupted ? ExitCode::Interrupted : ExitCode::Ok;
  const auto& best =
      result.best_checkpoint.empty() ? result.last_checkpoint : result.best_checkpoint;
  if (!dist::world().is_first()) return {{"", nullptr, code}, best};  // rank 0 speaks for all
  return {{result_text(result), result_json(family, result), code}, best};
}

/// Stages, each from the best checkpoint of the one before, in its own folder. With --resume,
/// finished stages are skipped quickly.
Outcome train_stages(const Family& family, Request request,
                     const std::vector<engine::TrainStage>& stages) {
  check(!request.config.has("resume_from"), ErrorKind::Usage,
        "[cli.train] --resume-from goes on in one training; got {} of them. --resume goes on in "
        "the right one.",
        stages.size());
  const auto folder = request.output;
  Outcome all;
  all.json = json_document("train", 1);
  all.json["family"] = family.name();
  all.json["stages"] = Json::array();
  for (const auto& stage : stages) {
    for (const auto& [key, value] : stage.settings) request.config.set_flag(key, value);
    request.output = folder / stage.name;
    log::info("stage {}", stage.name);
    const auto done = train_once(family, request);
    if (dist::world().is_first()) {
      all.text += fmt::format("{}: {}", stage.name, done.outcome.text);
      auto json = done.outcome.json;
      json["stage"] = stage.name;
      all.json["stages"].push_back(std::move(json));
    }
    all.code = done.outcome.code;
    if (all.code != ExitCode::Ok) break;
    if (!done.best.empty()) request.config.set_flag("model", done.best.string());
  }
  return all;
}

Outcome run_train(const Family& family, const Request& request) {
  auto own = request;
  const auto place = dist::read_place(dist::process_environment);
  hush_other_ranks(place);
  if (place.rank > 0) own.progress = ProgressStyle::Silent;
  own.output = run_folder(family, request);
  const auto command = family.train_command();
  engine::adopt_keys(command, own.config);
  const auto stages =
      command.stages ? command.stages(request.config) : std::vector<engine::TrainStage>();
  return stages.empty() ? train_once(family, own).outcome : train_stages(family, own, stages);
}

std::vector<engine::Command> train_rows(const Family& family, const std::string& verb) {
  auto command = family.train_command();
  auto& options = command.options;
  for (auto& option : engine::recipe_options()) options.push_back(std::move(option));
  return {{.verb = verb,
           .summary = "train " + family.name() + ": " + family.summary(),
           .options = std::move(options),
           .takes_settings = true,
           .examples = std::move(command.examples),
           .run = [&family](const Request& request) { return run_train(family, request); }}};
}

}  // namespace

Verb train_verb() {
  return family_verb(
      "train", "train a model; kill it and resume where it was",
      "Plans for the device (precision, layout, memory), trains under that plan and keeps a run "
      "folder: run.yaml, plan.json, metrics.jsonl, TensorBoard events, report.html and "
      "checkpoints. "
      "Ctrl-C saves a checkpoint and exits with 130; --resume goes on, with the same losses as a "
      "run that was never stopped.",
      {{"ubique train meshnet -d data/arc -o runs/lesion", "the paper's recipe"},
       {"ubique train meshnet -d data/arc -o runs/lesion --resume", "go on after a stop"}},
      train_rows);
}

}  // namespace ubique::cli
