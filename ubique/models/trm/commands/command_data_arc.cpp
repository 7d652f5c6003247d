// SPDX-License-Identifier: Apache-2.0
// `ubique data trm arc`: imports ARC-AGI tasks and makes their variants.
#include <fmt/format.h>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/data/puzzles/arc/arc_build.h"
#include "ubique/data/puzzles/arc/arc_read.h"
#include "ubique/models/trm/commands/commands.h"

namespace ubique::trm {
namespace {

std::vector<data::ArcTask> read_all_tasks(const std::vector<std::string>& paths) {
  std::vector<data::ArcTask> tasks;
  for (const auto& path : paths) {
    auto more = data::read_arc_tasks(path);
    std::move(more.begin(), more.end(), std::back_inserter(tasks));
  }
  return tasks;
}

void log_tasks(const std::vector<std::string>& names, std::string_view what) {
  if (names.empty()) return;
  constexpr std::size_t kNamed = 5;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, names.size())));
  log::info("{} tasks {}: {}{}", names.size(), what, join(first, ", "),
            names.size() > kNamed ? ", ..." : "");
}

engine::Outcome import_arc(const engine::Request& request) {
  data::ArcBuild options;
  options.augment = request.config.get("augment", options.augment);
  options.seed = static_cast<std::uint64_t>(request.config.get<std::int64_t>("seed", 42));
  options.first_id = request.config.get("first_id", options.first_id);
  const auto tested = request.config.get("eval", std::vector<std::string>{});
  request.config.finish();
  check(!request.inputs.empty() || !tested.empty(), ErrorKind::Usage,
        "[trm.arc] which tasks? got neither training tasks nor --eval; expected folders or "
        "files of ARC-AGI.");
  const auto folder = request.output.empty() ? std::filesystem::path("arc") : request.output;
  const auto train = read_all_tasks(request.inputs), test = read_all_tasks(tested);
  data::claim_puzzle_folder(folder, data::build_provenance(options, train.size(), test.size()));
  data::ArcData made;
  auto splits =
      build_with_progress(request, "tasks", static_cast<std::int64_t>(train.size() + test.size()),
                          [&](const data::PuzzleProgress& progress) {
                            made = data::build_arc(train, test, options, progress);
                            return std::move(made.splits);
                          });
  if (!splits) return stopped_outcome("trm.data.arc");
  log_tasks(made.incomplete,
            "have fewer variants than asked for, because further ones would be duplicates");
  log_tasks(made.unanswered,
            "have tests without an answer, which are neither trained on nor scored");
  data::write_puzzle_folder(folder, *splits, made.identifiers,
                            {{"test_puzzles.json", data::arc_json(made.tests).dump() + "\n"}});
  auto json = json_document("trm.data.arc", 1);
  json["folder"] = folder.string();
  json["made_with"] = splits->train.metadata.provenance;
  json["incomplete"] = made.incomplete;
  json["unanswered"] = made.unanswered;
  json["sets"] = splits_json(*splits);
  return {fmt::format("{} training tasks, {} test tasks, {} puzzle ids in {} (seed {})\n\n{}",
                      train.size(), test.size(), made.identifiers.size(), folder.string(),
                      options.seed, splits_table(*splits)),
          json, ExitCode::Ok};
}

}  // namespace

engine::Command arc_command() {
  return {.verb = "data",
          .name = "arc",
          .summary = "import ARC-AGI tasks, with variants in colours, rotations and positions",
          .inputs = "[TASKS...]",
          .needs_device = false,
          .options = {{"--eval", "eval", "PATH[,...]",
                       "test tasks: their example pairs are trained on, their test pairs are not"},
                      {"--augment", "augment", "N", "variants of each task (1000)"},
                      {"--first-id", "first_id", "N",
                       "first puzzle id; lower ones belong to another folder (1)"},
                      {"--seed", "seed", "N", "the same seed gives the same variants (42)"}},
          .examples = {{"ubique data trm arc ARC-AGI/data/training --eval ARC-AGI/data/evaluation "
                        "-o arc1",
                        "folders with one file per task; writes test_puzzles.json for the votes"},
                       {"ubique data trm arc arc_training_challenges.json --eval "
                        "arc_evaluation_challenges.json --augment 300 -o arc2",
                        "files of all tasks, with answers in ..._solutions.json beside them"}},
          .run = import_arc};
}

}  // namespace ubique::trm
