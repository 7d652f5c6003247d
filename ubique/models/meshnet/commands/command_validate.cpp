// SPDX-License-Identifier: Apache-2.0
// `ubique validate meshnet`: an experiment compared with the published table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/text.h"
#include "ubique/models/meshnet/commands/commands.h"
#include "ubique/models/meshnet/score/experiment.h"
#include "ubique/models/meshnet/score/published.h"

namespace ubique::meshnet {
namespace {

struct Figures {
  double dice = 0, dice_std = 0, lesion_dice = 0, avd = 0, mcc = 0;
};

Figures figures_of(const Json& experiment) {
  const auto& scores = experiment["scores"];
  const auto mean = [&](const char* name) { return scores.at(name).at("mean").get<double>(); };
  check(scores.contains("macro_dice") && scores.contains("dice"), ErrorKind::Input,
        "[meshnet.validate] the experiment has no macro Dice; expected one made by 'ubique "
        "experiment meshnet'.");
  return {mean("macro_dice"), scores["macro_dice"]["std"].get<double>(), mean("dice"), mean("avd"),
          mean("mcc")};
}

const PublishedRow& published_row(const std::string& variant) {
  std::string name = variant;
  std::replace(name.begin(), name.end(), '_', '-');
  std::vector<std::string> names;
  for (const auto& row : kPublished) {
    if (lowercase(row.model) == lowercase(name)) return row;
    names.push_back(lowercase(row.model));
  }
  fail(ErrorKind::Usage,
       "[meshnet.validate] no published row of that name; got '{}', expected one "
       "of {}.{}",
       variant, join(names, ", "), hint(lowercase(name), names));
}

/// Parity levels of arc-meshchop's protocol, whose bounds are for MeshNet-26.
std::string parity_level(const Figures& ours, const PublishedRow& paper) {
  const bool strict = std::abs(ours.dice - paper.dice) <= .01 &&
                      std::abs(ours.avd - paper.avd) <= .02 &&
                      std::abs(ours.mcc - paper.mcc) <= .02 && ours.dice_std <= .03;
  if (strict) return "strict";
  if (ours.dice >= paper.dice - .016 && ours.avd <= paper.avd + .055 &&
      ours.mcc >= paper.mcc - .02) {
    return "acceptable";
  }
  return ours.dice >= paper.dice - .026 ? "minimum" : "not reached";
}

std::string report_text(const Figures& ours, const PublishedRow& paper, const std::string& level,
                        std::size_t runs) {
  auto text = fmt::format("# {} against the paper\n\nParity: **{}**, from {} runs.\n\n",
                          paper.model, level, runs);
  text += "| | ours | paper | difference |\n|---|---|---|---|\n";
  const auto row = [&](const char* name, double mine, double theirs) {
    text += fmt::format("| {} | {:.3f} | {:.3f} | {:+.3f} |\n", name, mine, theirs, mine - theirs);
  };
  row("Dice (macro)", ours.dice, paper.dice);
  row("AVD", ours.avd, paper.avd);
  row("MCC", ours.mcc, paper.mcc);
  text += fmt::format("| Dice (lesion) | {:.3f} | {:.3f} (implied) | {:+.3f} |\n", ours.lesion_dice,
                      2 * paper.dice - 1, ours.lesion_dice - (2 * paper.dice - 1));
  text +=
      "\nThe paper's Dice is taken as the mean of lesion and background: in each of its rows "
      "2 x Dice - 1 lies just below MCC, which the Dice of the lesion alone could not do.\n\n"
      "| published | parameters | Dice | AVD | MCC |\n|---|---|---|---|---|\n";
  for (const auto& other : kPublished) {
    text += fmt::format("| {} | {} | {:.3f} ({:.3f}) | {:.3f} | {:.3f} |\n", other.model,
                        other.parameters, other.dice, other.dice_std, other.avd, other.mcc);
  }
  return text;
}

engine::Outcome validate_meshnet(const engine::Request& request) {
  const auto& paper = published_row(request.config.get<std::string>("variant", "meshnet-26"));
  request.config.finish();
  const auto experiment = read_experiment(request.inputs.front());
  const auto ours = figures_of(experiment);
  const auto level = parity_level(ours, paper);
  engine::Outcome outcome;
  outcome.text = report_text(ours, paper, level, experiment["num_runs"].get<std::size_t>());
  outcome.json = json_document("validate", 1);
  outcome.json["variant"] = paper.model;
  outcome.json["parity"] = level;
  outcome.json["ours"] = {{"macro_dice", ours.dice},
                          {"macro_dice_std", ours.dice_std},
                          {"dice", ours.lesion_dice},
                          {"avd", ours.avd},
                          {"mcc", ours.mcc}};
  outcome.json["paper"] = {{"macro_dice", paper.dice}, {"avd", paper.avd}, {"mcc", paper.mcc}};
  if (!request.output.empty()) write_file(request.output, outcome.text);
  if (level == "not reached") outcome.code = ExitCode::Parity;
  return outcome;
}

}  // namespace

engine::Command validate_command() {
  return {.verb = "validate",
          .summary = "an experiment beside the published table; exit code 5 below its minimum",
          .inputs = "EXPERIMENT",
          .needs_device = false,
          .options = {{"--variant", "variant", "NAME", "row to compare with (meshnet-26)"}},
          .examples = {{"ubique validate meshnet experiments/mesh26 -o parity.md",
                        "a report in Markdown"}},
          .run = validate_meshnet};
}

}  // namespace ubique::meshnet
