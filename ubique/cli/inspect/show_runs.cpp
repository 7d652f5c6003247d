// SPDX-License-Identifier: Apache-2.0
// Folders that training writes: runs and their checkpoints. Only headers are read.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/cli/inspect/kinds.h"
#include "ubique/engine/checkpoint/checkpoint_header.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/io/tensors/safetensors_set.h"

namespace ubique::cli {
namespace {

namespace fs = std::filesystem;

engine::Checkpoint header_of(const fs::path& path) {
  const io::SafetensorsSet set(path);
  engine::Checkpoint checkpoint;
  engine::read_model_metadata(set.metadata(), path.string(), checkpoint);
  return checkpoint;
}

Json json_of(const engine::Scores& scores) {
  auto json = Json::object();
  for (const auto& [name, value] : scores) json[name] = value;
  return json;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with('.')) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

/// A chat model is not run on files of puzzles.
void prefer_chat(const engine::Checkpoint& checkpoint, const fs::path& path, Finding& finding) {
  if (!checkpoint.config.is_object() || checkpoint.config.value("kind", Json()) != "chat") return;
  std::erase_if(finding.next, [](const auto& line) { return line.starts_with("ubique run "); });
  finding.next.insert(finding.next.begin(), fmt::format("ubique run {} --chat --model {}",
                                                        checkpoint.family, shell_word(path)));
}

}  // namespace

void show_checkpoint(const Sight& sight, Finding& finding) {
  show_safetensors(sight, finding);
  const auto checkpoint = header_of(sight.path);
  finding.facts.emplace_back("epoch", checkpoint.epoch);
  finding.facts.emplace_back("step", checkpoint.step);
  if (!checkpoint.scores.empty()) finding.facts.emplace_back("scores", json_of(checkpoint.scores));
  prefer_chat(checkpoint, sight.path, finding);
}

void show_run(const Sight& sight, Finding& finding) {
  const auto checkpoints = sight.path / "checkpoints";
  const auto kept = names_in(checkpoints);
  const auto model = engine::model_path(sight.path);
  if (model != sight.path) {  // else it was stopped before its first checkpoint
    const auto checkpoint = header_of(model);
    add_model_commands(model, finding);
    prefer_chat(checkpoint, model, finding);
    finding.next.push_back(fmt::format("ubique train {} --config {} -o {} --resume",
                                       checkpoint.family, shell_word(sight.path / "run.yaml"),
                                       shell_word(sight.path)));
  }
  finding.facts.emplace_back("files", names_in(sight.path));
  finding.facts.emplace_back("checkpoints", kept);
  for (const auto* name : {"last", "best"}) {
    if (std::ranges::find(kept, name) == kept.end()) continue;
    const auto checkpoint = header_of(checkpoints / name);
    Json facts = {{"epoch", checkpoint.epoch}, {"step", checkpoint.step}};
    facts.update(json_of(checkpoint.scores));
    finding.facts.emplace_back(name, std::move(facts));
  }
}

}  // namespace ubique::cli
