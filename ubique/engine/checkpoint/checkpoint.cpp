// SPDX-License-Identifier: Apache-2.0
// Saves, recognises and loads checkpoint folders, and chooses the one that a run resumes from.
#include "ubique/engine/checkpoint/checkpoint.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <tuple>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/atomic_folder.h"
#include "ubique/engine/checkpoint/checkpoint_files.h"
#include "ubique/engine/checkpoint/checkpoint_header.h"
#include "ubique/io/tensors/safetensors_reader.h"

namespace ubique::engine {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool has_our_header(const fs::path& file) {
  if (!is_file(file)) return false;
  try {
    return is_ours(io::SafetensorsFile(file).metadata());
  } catch (const Error&) {
    return false;
  }
}

/// True for a damaged checkpoint too: load_checkpoint reports what is wrong with it.
bool has_our_manifest(const fs::path& folder) {
  const auto path = folder / kManifestFile;
  if (!is_file(path)) return false;
  try {
    return read_file(path).find("ubique.checkpoint") != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

std::int64_t size_of_tensors(const Checkpoint& checkpoint) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : checkpoint.model) bytes += tensor.nbytes();
  for (const auto& [name, tensor] : checkpoint.trainer) bytes += tensor.nbytes();
  return static_cast<std::int64_t>(bytes);
}

/// An error's message without its [room.verb] tag.
std::string bare_message(const Error& error) {
  const std::string message = error.what();
  const auto end = message.starts_with('[') ? message.find("] ") : std::string::npos;
  return end == std::string::npos ? message : message.substr(end + 2);
}

std::string free_space(const fs::path& folder) {
  std::error_code error;
  const auto space = fs::space(folder, error);
  return error ? "an unknown amount" : human_bytes(static_cast<std::int64_t>(space.available));
}

/// A checkpoint folder by its file names, even if none of them is readable; or an empty folder.
bool has_only_our_files(const fs::path& folder) {
  std::error_code ignored;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename();
    if (name != kModelFile && name != kTrainerFile && name != kManifestFile) return false;
    ++count;
  }
  return count == 0 || is_file(folder / kManifestFile);
}

/// Replacing a folder must not delete anything that is not a checkpoint.
void refuse_foreign(const fs::path& folder) {
  std::error_code ignored;
  const bool fine = !fs::exists(folder, ignored) ||
                    (is_folder(folder) && (is_checkpoint(folder) || has_only_our_files(folder)));
  check(fine, ErrorKind::Input,
        "[engine.checkpoint] {} is there already and is not a checkpoint; it would be replaced. "
        "Give another name.",
        folder.string());
}

struct Candidate {
  fs::path folder;
  bool resumable = false;  // it has trainer.safetensors
  std::int64_t step = -1;
};

Candidate candidate_of(const fs::path& folder) {
  try {
    const auto manifest = read_manifest(folder);
    return {folder, manifest.find(kTrainerFile) != nullptr, manifest.step};
  } catch (const Error&) {
    return {folder};  // still tried, so that its error is reported
  }
}

/// In order of preference: last, its predecessor, then the others, resumable and newest first.
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

void save_checkpoint(const fs::path& path, const Checkpoint& checkpoint) {
  // "x/" has an empty file name; the rename needs an absolute path with a parent.
  const auto folder = fs::absolute(path.has_filename() ? path : path.parent_path());
  refuse_foreign(folder);
  const auto parent = folder.parent_path();
  make_folder(parent);
  try {
    TemporaryFolder temporary(parent);
    write_checkpoint_files(temporary.path(), checkpoint);
    temporary.publish(folder, /*keep_previous=*/folder.filename() == "last");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    fail(ErrorKind::Input,
         "[engine.checkpoint] cannot save {}: {} The disk has {} free, this checkpoint takes {}. "
         "What was saved before is untouched; make room, then resume.",
         folder.string(), bare_message(error), free_space(parent),
         human_bytes(size_of_tensors(checkpoint)));
  }
}

Checkpoint load_checkpoint(const fs::path& path, bool with_trainer) {
  if (is_file(path)) {
    const auto folder = path.parent_path();
    const bool in_place = path.filename() == kModelFile && is_file(folder / kManifestFile);
    return in_place ? read_checkpoint_files(folder, with_trainer) : read_lone_model(path);
  }
  auto folder = path.has_filename() ? path : path.parent_path();
  if (!is_folder(folder) && is_folder(previous_of(folder))) {
    folder = previous_of(folder);  // the process was killed while replacing it
  }
  check(is_folder(folder), ErrorKind::Input,
        "[engine.checkpoint] no checkpoint {}; expected a folder with {}, or its {}.",
        path.string(), kManifestFile, kModelFile);
  check(is_file(folder / kManifestFile), ErrorKind::Input,
        "[engine.checkpoint] {} is not a checkpoint; it has no {}. If it holds a model of another "
        "system, import it with convert.",
        folder.string(), kManifestFile);
  return read_checkpoint_files(folder, with_trainer);
}

bool is_checkpoint(const fs::path& path) {
  if (is_folder(path)) return has_our_header(path / kModelFile) || has_our_manifest(path);
  return has_our_header(path) ||
         (path.filename() == kModelFile && is_file(path) && has_our_manifest(path.parent_path()));
}

std::optional<Checkpoint> load_last(const fs::path& run_folder) {
  const auto folders = folders_in_order(run_folder / "checkpoints");
  if (folders.empty()) return std::nullopt;
  std::vector<std::string> reasons;
  for (const auto& folder : folders) {
    try {
      auto checkpoint = load_checkpoint(folder);
      if (!reasons.empty()) {
        log::warn("{}\n  Resuming from {} (step {}) instead.", join(reasons, "\n  "),
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

std::string family_of(const fs::path& checkpoint) {
  const auto file = is_folder(checkpoint) ? checkpoint / kModelFile : checkpoint;
  Checkpoint header;
  read_model_metadata(io::SafetensorsFile(file).metadata(), file.string(), header);
  return header.family;
}

}  // namespace ubique::engine
