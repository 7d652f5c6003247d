// SPDX-License-Identifier: Apache-2.0
// Which checkpoint of a run to go on from.
#include <algorithm>
#include <system_error>
#include <tuple>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/checkpoint_folder.h"
#include "ubique/engine/checkpoint/checkpoint_manifest.h"

namespace ubique::engine {
namespace {

namespace fs = std::filesystem;

struct Candidate {
  fs::path folder;
  bool resumable = false;  // has a trainer's state
  std::int64_t step = -1;
};

Candidate candidate_of(const fs::path& folder) {
  try {
    const auto manifest = read_manifest(folder);
    return {folder, manifest.find(kTrainerFile) != nullptr, manifest.step};
  } catch (const Error&) {
    return {folder};  // tried all the same, for the message
  }
}

/// last, the one before it, then the others: those with a trainer's state first, the newest first.
std::vector<fs::path> folders_in_order(const fs::path& checkpoints) {
  const auto last = checkpoints / "last";
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& folder : {last, previous_of(last)}) {
    if (fs::exists(folder, ignored)) folders.push_back(folder);
  }
  std::vector<Candidate> others;
  for (const auto& entry : fs::directory_iterator(checkpoints, ignored)) {
    const auto& folder = entry.path();
    const bool hidden = folder.filename().string().starts_with('.');
    if (!hidden && folder != last && is_checkpoint(folder)) others.push_back(candidate_of(folder));
  }
  std::sort(others.begin(), others.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.resumable, a.step, a.folder) > std::tie(b.resumable, b.step, b.folder);
  });
  for (const auto& other : others) folders.push_back(other.folder);
  return folders;
}

}  // namespace

std::optional<Checkpoint> load_last(const fs::path& run_folder) {
  const auto folders = folders_in_order(run_folder / "checkpoints");
  if (folders.empty()) return std::nullopt;
  std::vector<std::string> reasons;
  for (const auto& folder : folders) {
    try {
      auto checkpoint = load_checkpoint(folder);
      if (!reasons.empty()) {
        log::warn("{}\n  Going on from {} (step {}) instead.", join(reasons, "\n  "),
                  folder.string(), checkpoint.step);
      }
      return checkpoint;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) throw;
      reasons.emplace_back(error.what());
    }
  }
  fail(ErrorKind::Input,
       "[engine.checkpoint] no checkpoint of {} can be read; got\n  {}\nStart the run anew with "
       "another -o, or bring back a copy of its checkpoints.",
       run_folder.string(), join(reasons, "\n  "));
}

}  // namespace ubique::engine
