// SPDX-License-Identifier: Apache-2.0
// `ubique train FAMILY`: a task of the family, a plan for this machine, and the engine's one loop.
// Options that every family has are here; the rest comes from the family.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/family_verb.h"
#include "ubique/cli/run_yaml.h"
#include "ubique/engine/loop/trainer.h"
#include "ubique/engine/session/session.h"
#include "ubique/plan/report.h"

namespace ubique::cli {
namespace {

using engine::Family;
using engine::Outcome;
using engine::Request;

std::vector<engine::Option> recipe_options() {
  return {
      {"-e,--epochs", "epochs", "N", "times through the training set"},
      {"--max-steps", "max_steps", "N", "stop after so many updates"},
      {"--optimizer", "optimizer", "NAME", "adamw, adam_tf1, adam_atan2 or sgd"},
      {"--lr", "lr", "RATE", "learning rate (its peak, with a schedule)"},
      {"--weight-decay,--wd", "weight_decay", "X", "decoupled weight decay"},
      {"--schedule", "schedule", "NAME", "constant, onecycle, cosine or plateau"},
      {"--warmup", "warmup", "SHARE", "share of all steps in which the rate rises"},
      {"--div-factor", "div_factor", "X", "onecycle: the first rate is the peak divided by this"},
      {"--clip-norm", "clip_norm", "X", "clip gradients to this norm; 0 = never"},
      {"--ema", "ema", "DECAY", "averaged weights; 0 = none"},
      {"--watch", "watch", "NAME", "score that decides about the best epoch and an early stop"},
      {"--patience", "patience", "N", "epochs without a better score before stopping; 0 = never"},
      {"--validate-every", "validate_every", "N", "epochs between validations"},
      {"--checkpoint-every", "checkpoint_every", "N", "steps between kept checkpoints; 0 = none"},
      {"--keep", "keep", "N", "kept step-N checkpoints at most"},
      {"--max-bad-steps", "max_bad_steps", "N", "non-finite updates in a row before giving up"},
      {"--seed", "seed", "N", "of weights, shuffles and augmentation"},
      {"--log-every", "log_every", "N", "steps between lines of metrics"},
      {"--resume", "resume", "", "go on where the run in the output folder stopped"},
      {"--resume-from", "resume_from", "PATH", "go on from this checkpoint"},
      {"--fp16,!--no-fp16", "fp16", "", "half precision where the device does it well (on)"},
      {"--model", "model", "PATH",
       "start from these weights: a run, a checkpoint or an importable file"},
      {"--dry-run", "dry_run", "", "print the plan and stop"},
  };
}

/// Started as one of several processes, by whatever starts such?
int launched_processes() {
  const auto number = [](const char* variable) {
    const char* text = std::getenv(variable);
    return text == nullptr ? 0 : std::atoi(text);
  };
  return std::max(number("WORLD_SIZE"), number("LOCAL_RANK") + 1);
}

/// The older projects' switch: off means f32, on leaves the choice to the plan.
void adopt_fp16(const Config& config, plan::Wishes& wishes) {
  if (config.find<bool>("fp16").value_or(true) || wishes.dtype) return;
  wishes.dtype = DType::F32;
}

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

engine::TrainOptions train_options(const Request& request) {
  const auto& config = request.config;
  engine::TrainOptions options;
  options.folder = request.output;
  options.resume = config.get("resume", false);
  options.resume_from = config.get<std::string>("resume_from", "");
  options.progress = request.progress;
  options.log_every = config.get<std::int64_t>("log_every", 10);
  options.stop_requested = request.stop_requested;
  return options;
}

/// A resumed run obeys the settings given now; whoever did not mean to change them should know.
void tell_changes(const engine::TrainOptions& options) {
  const auto path = options.folder / "run.yaml";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  const auto changes = changed_settings(read_file(path), options.configuration);
  if (changes.empty()) return;
  log::warn("[cli.train] this run had other settings before: {}", join(changes, "; "));
}

struct Trained {
  Outcome outcome;
  std::filesystem::path best;  ///< checkpoint; empty after a dry run
};

Trained train_once(const Family& family, Request request) {
  auto options = train_options(request);
  const bool dry_run = request.config.get("dry_run", false);
  auto wishes = plan::read_wishes(request.config);
  wishes.mode = plan::Mode::Train;
  adopt_fp16(request.config, wishes);
  request.model = request.config.get<std::string>("model", "");
  const auto device = engine::open_device(wishes, request.fallback);
  log::info("Using device: {}", device.facts.label());
  const auto processes = std::max(wishes.world_size, launched_processes());
  check(processes <= 1 || device.facts.kind != device::Kind::Mps, ErrorKind::Device,
        "[cli.train] Distributed training is not supported on MPS. Please use CUDA or run on a "
        "single device. Got {} processes, expected 1.",
        processes);
  check(processes <= 1 || dry_run, ErrorKind::Usage,
        "[cli.train] a run is one process with one device so far; got {} processes (--world-size, "
        "WORLD_SIZE or LOCAL_RANK), expected 1. Without them --accumulation gives the same batch; "
        "--dry-run shows the plan for several.",
        processes);
  request.device = device.facts.backend;
  const auto task = family.task(request);
  request.config.finish();
  options.configuration = run_yaml(request.config.resolved());

  const auto session = engine::open_session(task->model().needs(), wishes, request.fallback);
  if (options.resume) tell_changes(options);
  if (dry_run) return {plan_outcome(session.plan), {}};
  log::info("{} into {}", session.plan.needs, options.folder.string());
  const auto result = engine::train(*task, session.plan, options);
  return {{result_text(result), result_json(family, result),
           result.interrupted ? ExitCode::Interrupted : ExitCode::Ok},
          result.best_checkpoint.empty() ? result.last_checkpoint : result.best_checkpoint};
}

/// Each from the best of the one before, in a folder of its own. A stage that is done is only
/// looked at when the command is given again with --resume.
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
    all.text += fmt::format("{}: {}", stage.name, done.outcome.text);
    auto json = done.outcome.json;
    json["stage"] = stage.name;
    all.json["stages"].push_back(std::move(json));
    all.code = done.outcome.code;
    if (all.code != ExitCode::Ok) break;
    if (!done.best.empty()) request.config.set_flag("model", done.best.string());
  }
  return all;
}

Outcome run_train(const Family& family, const Request& request) {
  auto own = request;
  own.output = run_folder(family, request);
  const auto stages = family.train_stages(request.config);
  return stages.empty() ? train_once(family, own).outcome : train_stages(family, own, stages);
}

std::vector<engine::Command> train_rows(const Family& family, const std::string& verb) {
  auto options = family.train_options();
  for (auto& option : recipe_options()) options.push_back(std::move(option));
  return {{.verb = verb,
           .summary = "train " + family.name() + ": " + family.summary(),
           .options = std::move(options),
           .takes_settings = true,
           .examples = family.train_examples(),
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
