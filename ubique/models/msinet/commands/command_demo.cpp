// SPDX-License-Identifier: Apache-2.0
// `ubique demo msinet`: makes scenes, trains, scores held-out scenes beside the baselines and draws
// a few maps. Calls the same commands that a person would type; needs no download.
#include <fmt/format.h>

#include "ubique/engine/walk/demo.h"
#include "ubique/models/msinet/commands/commands.h"
#include "ubique/models/msinet/train/task.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;
using engine::demo_request, engine::DemoFlags;

/// Training length. The network first learns shapes regardless of colour and stays on that plateau
/// for a while; small batches and high learning rates shorten it.
struct DemoLength {
  const char *batch, *lr, *steps, *epochs;
};
constexpr DemoLength kWholeDemo = {"16", "5e-3", "800", "7"};
constexpr DemoLength kQuickDemo = {"8", "4e-3", "1000", "4"};

DemoFlags training_flags(const fs::path& scenes, const DemoLength& length) {
  return {{"data", scenes.string()}, {"preset", "msinet-small"}, {"size", "64,80"},
          {"batch", length.batch},   {"lr", length.lr},          {"clip_norm", "1"},
          {"schedule", "cosine"},    {"warmup", "0.0625"},       {"flip", "true"},
          {"epochs", length.epochs}, {"max_steps", length.steps}};
}

engine::Outcome demo_msinet(const engine::Request& request) {
  const auto folder = request.output.empty() ? fs::path("demo") / "msinet" : request.output;
  const auto length = request.config.get("quick", false) ? kQuickDemo : kWholeDemo;
  const auto scenes = folder / "scenes";
  const auto made = synth_command().run(demo_request(request, {}, scenes, false));
  if (made.code != ExitCode::Ok) return made;

  const auto trained = engine::train_demo(
      demo_request(request, training_flags(scenes, length), folder / "run"), make_task);
  if (trained.interrupted) return engine::interrupted_demo();
  auto score = demo_request(request, {{"data", scenes.string()}, {"definition", "tuebingen"}},
                            folder / "scores");
  score.model = trained.last_checkpoint.string();
  const auto scores = evaluate_command().run(score);

  // Larger scenes of another seed to look at; the network resizes them to its input size.
  const DemoFlags large = {{"count", "1"}, {"valid", "6"}, {"size", "256,320"}, {"seed", "43"}};
  synth_command().run(demo_request(request, large, folder / "pictures", false));
  auto draw = demo_request(request, {{"peaks", "2"}}, folder / "maps");
  draw.model = score.model;
  draw.inputs = {(folder / "pictures" / "stimuli" / "val").string()};
  const auto drawn = run_command().run(draw);

  engine::Outcome outcome;
  outcome.json = json_document("demo", 1);
  outcome.json["scores"] = scores.json["tuebingen"];
  outcome.json["report"] = trained.report.string();
  outcome.json["maps"] = draw.output.string();
  outcome.text =
      fmt::format("Scores on held-out scenes:\n\n{}report:   {}\npictures: {}\nmodel:    {}\n",
                  scores.text, trained.report.string(), draw.output.string(), score.model);
  outcome.code = drawn.code;
  return outcome;
}

}  // namespace

engine::Command demo_command() {
  return {.verb = "demo",
          .summary = "train a small MSI-Net on scenes with an odd one out, score it, draw its maps",
          .options = {{"--quick", "quick", "", "less training, for a first look"}},
          .examples = {{"ubique demo msinet", "about a minute on two cores"},
                       {"ubique demo msinet --quick --device sham", "the code that a Mac runs"}},
          .run = demo_msinet};
}

}  // namespace ubique::msinet
