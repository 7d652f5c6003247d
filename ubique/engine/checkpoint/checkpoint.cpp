// SPDX-License-Identifier: Apache-2.0
#include "ubique/engine/checkpoint/checkpoint.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <system_error>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/checkpoint_files.h"
#include "ubique/engine/checkpoint/checkpoint_folder.h"
#include "ubique/engine/checkpoint/checkpoint_header.h"
#include "ubique/engine/checkpoint/checkpoint_manifest.h"
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

/// Also of a damaged checkpoint: what is wrong with it is load_checkpoint's to say.
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

/// The message of an error without its place in brackets.
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

/// A folder of ours even if nothing in it can be read any more; or an empty one.
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

/// Replacing must not delete what is not ours.
void refuse_foreign(const fs::path& folder) {
  std::error_code ignored;
  const bool fine = !fs::exists(folder, ignored) ||
                    (is_folder(folder) && (is_checkpoint(folder) || has_only_our_files(folder)));
  check(fine, ErrorKind::Input,
        "[engine.checkpoint] {} is there already and is not a checkpoint; it would be replaced. "
        "Give another name.",
        folder.string());
}

}  // namespace

void save_checkpoint(const fs::path& path, const Checkpoint& checkpoint) {
  // "x/" has no file name of its own; absolute, so that there is a parent to rename in.
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
    folder = previous_of(folder);  // a kill while it was being replaced
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

}  // namespace ubique::engine
