// SPDX-License-Identifier: Apache-2.0
// `ubique demo trm`: small sudokus, training, how many unseen ones are solved, and a few of them
// step by step. By the same commands that a person would type, without a download.
#include <fmt/format.h>

#include "ubique/base/log.h"
#include "ubique/engine/session.h"
#include "ubique/models/trm/commands.h"
#include "ubique/models/trm/commands_data.h"
#include "ubique/models/trm/task.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;
using DemoFlags = std::vector<std::pair<std::string, std::string>>;

/// How often it sees its puzzles, each time as another twin.
constexpr const char *kWholeDemo = "60", *kQuickDemo = "20";

engine::Request demo_request(const engine::Request& request, const DemoFlags& flags,
                             const fs::path& output, bool on_device = true) {
  engine::Request own = request;
  own.config = Config();
  own.output = output;
  for (const auto& [key, value] : flags) own.config.set_flag(key, value);
  if (on_device) {
    own.config.set_flag("device", request.config.get<std::string>("device", "auto"));
  }
  return own;
}

DemoFlags training_flags(const fs::path& puzzles, const char* epochs) {
  return {{"data_paths", puzzles.string()},
          {"arch.mlp_t", "true"},
          {"arch.hidden_size", "64"},
          {"arch.num_heads", "4"},
          {"arch.puzzle_emb_len", "1"},
          {"arch.H_cycles", "2"},
          {"arch.L_cycles", "2"},
          {"arch.halt_max_steps", "8"},
          {"global_batch_size", "32"},
          {"epochs", epochs},
          {"lr", "1e-3"},
          {"lr_warmup_steps", "30"},
          {"lr_min_ratio", "0.1"},
          {"ema", "0.98"}};
}

engine::TrainResult train_demo(const engine::Request& request, const fs::path& puzzles,
                               const fs::path& folder, const char* epochs) {
  const auto own = demo_request(request, training_flags(puzzles, epochs), folder);
  const auto wishes = plan::read_wishes(own.config);
  const auto task = make_task(own);
  own.config.finish();
  const auto session = engine::open_session(task->model().needs(), wishes, request.fallback);
  log::info("Using device: {}", session.device.facts.label());
  engine::TrainOptions options;
  options.folder = folder;
  options.resume = fs::exists(folder);
  options.progress = request.progress;
  options.stop_requested = request.stop_requested;
  return engine::train(*task, session.plan, options);
}

engine::Outcome demo_trm(const engine::Request& request) {
  const auto folder = request.output.empty() ? fs::path("demo") / "trm" : request.output;
  const auto* epochs = request.config.get("quick", false) ? kQuickDemo : kWholeDemo;
  const auto puzzles = folder / "puzzles";
  const auto made = sudoku_command().run(
      demo_request(request, {{"size", "4"}, {"train", "800"}, {"test", "500"}}, puzzles, false));
  if (made.code != ExitCode::Ok) return made;

  const auto trained = train_demo(request, puzzles, folder / "run", epochs);
  engine::Outcome outcome;
  outcome.json = json_document("demo", 1);
  if (trained.interrupted) {
    outcome.text = "interrupted; the same command goes on where it was\n";
    outcome.code = ExitCode::Interrupted;
    return outcome;
  }
  auto score = demo_request(request, {{"data_paths", puzzles.string()}}, {});
  score.model = (folder / "run").string();
  const auto scores = evaluate_command().run(score);

  auto show = demo_request(request, {{"limit", "2"}}, {});
  if (request.progress != ProgressStyle::JsonLines) show.config.set_flag("watch", "true");
  show.model = score.model;
  show.inputs = {puzzles.string()};
  const auto shown = run_command().run(show);

  outcome.json["scores"] = scores.json;
  outcome.json["shown"] = shown.json["puzzles"];
  outcome.json["report"] = trained.report.string();
  outcome.text = fmt::format("Sudokus that the network never saw:\n\n{}report: {}\nmodel:  {}\n",
                             scores.text, trained.report.string(), score.model);
  outcome.code = shown.code;
  return outcome;
}

}  // namespace

engine::Command demo_command() {
  return {.verb = "demo",
          .summary = "train a small TRM on 4x4 sudokus, watch it solve unseen ones, count them",
          .options = {{"--quick", "quick", "", "less training, for a first look"}},
          .examples = {{"ubique demo trm", "about a minute on two cores"},
                       {"ubique demo trm --quick --device sham", "the code that a Mac runs"}},
          .run = demo_trm};
}

}  // namespace ubique::trm
