// SPDX-License-Identifier: Apache-2.0
// `ubique demo trm`: makes small sudokus, trains, evaluates on unseen ones and shows two step by
// step. Uses the same commands as a user would, without a download.
#include <fmt/format.h>

#include "ubique/engine/walk/demo.h"
#include "ubique/models/trm/commands/commands.h"
#include "ubique/models/trm/train/task.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;
using engine::demo_request;

/// Passes over the puzzles, each puzzle as another variant every time.
constexpr const char *kWholeDemo = "60", *kQuickDemo = "20";

engine::DemoFlags training_flags(const fs::path& puzzles, const char* epochs) {
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

engine::Outcome demo_trm(const engine::Request& request) {
  const auto folder = request.output.empty() ? fs::path("demo") / "trm" : request.output;
  const auto* epochs = request.config.get("quick", false) ? kQuickDemo : kWholeDemo;
  const auto puzzles = folder / "puzzles";
  const auto made = sudoku_command().run(
      demo_request(request, {{"size", "4"}, {"train", "800"}, {"test", "500"}}, puzzles, false));
  if (made.code != ExitCode::Ok) return made;

  const auto trained = engine::train_demo(
      demo_request(request, training_flags(puzzles, epochs), folder / "run"), make_task);
  if (trained.interrupted) return engine::interrupted_demo();
  auto score = demo_request(request, {{"data_paths", puzzles.string()}}, {});
  score.model = (folder / "run").string();
  const auto scores = evaluate_command().run(score);

  auto show = demo_request(request, {{"limit", "2"}}, {});
  if (request.progress != ProgressStyle::JsonLines) show.config.set_flag("watch", "true");
  show.model = score.model;
  show.inputs = {puzzles.string()};
  const auto shown = run_command().run(show);

  engine::Outcome outcome;
  outcome.json = json_document("demo", 1);
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
