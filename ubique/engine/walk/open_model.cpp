// SPDX-License-Identifier: Apache-2.0
// Opens models: our checkpoints by their header, other files by the family that recognizes them.
#include "ubique/engine/walk/open_model.h"

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/io/hub/cache.h"
#include "ubique/io/tensor_list.h"

namespace ubique::engine {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Model> import_foreign(const fs::path& path, const std::string& family) {
  std::vector<std::string> names;
  for (const auto* candidate : families()) {
    if (!family.empty() && candidate->name() != family) continue;
    if (candidate->recognizes(path)) return candidate->import_model(path);
    names.push_back(candidate->name());
  }
  fail(ErrorKind::Input,
       "[engine.open] {} is no model that is known here; got {}, expected a checkpoint folder, or "
       "a file of {}.",
       path.string(), io::contents_text(path),
       names.empty() ? "a family of this build" : join(names, ", "));
}

/// For what may be a name on the hub, where no folder OWNER is.
std::string pull_hint(const fs::path& path) {
  std::error_code ignored;
  if (!io::parse_hub_name(path.string()) || fs::exists(path.parent_path(), ignored)) return {};
  return fmt::format(" `ubique pull hf:{}` downloads a model of that name.", path.string());
}

}  // namespace

fs::path model_path(const fs::path& given) {
  const auto path = io::hub_folder_if_here(given.string());
  for (const auto* name : {"best", "last"}) {
    auto folder = path / "checkpoints" / name;
    if (!path.empty() && is_checkpoint(folder)) return folder;
  }
  return path;
}

fs::path find_newest_model(const fs::path& runs, const std::string& family) {
  fs::path newest;
  fs::file_time_type time;
  std::error_code error;
  for (const auto& run : fs::directory_iterator(runs, error)) {
    const auto best = run.path() / "checkpoints" / "best";
    const auto changed = fs::last_write_time(best, error);
    if (error || (!newest.empty() && changed <= time)) continue;
    if (!is_checkpoint(best) || (!family.empty() && family_of(best) != family)) continue;
    newest = best;
    time = changed;
  }
  return newest;
}

fs::path newest_model(const fs::path& runs, const std::string& family) {
  const auto newest = find_newest_model(runs, family);
  check(!newest.empty(), ErrorKind::Usage,
        "[engine.open] which model? got no --model, and there is no run{} in {}/; expected a "
        "checkpoint folder or a file to import.",
        family.empty() ? "" : " of " + family, runs.string());
  log::info("the newest run's best: {}", newest.string());
  return newest;
}

std::optional<Checkpoint> open_checkpoint(const fs::path& given, const std::string& family) {
  const auto path = model_path(given);
  check_readable(path);
  std::error_code ignored;
  check(fs::exists(path, ignored), ErrorKind::Input,
        "[engine.open] {} does not exist; expected a checkpoint folder or a file to import.{}",
        path.string(), pull_hint(path));
  // Families look at a file's first bytes: opening a pipe would wait for its writer.
  check(fs::is_regular_file(path, ignored) || fs::is_directory(path, ignored), ErrorKind::Input,
        "[engine.open] {} is a pipe or a device; expected a checkpoint folder or a file to import.",
        path.string());
  if (!is_checkpoint(path)) return std::nullopt;
  auto checkpoint = load_checkpoint(path, /*with_trainer=*/false);
  check(family.empty() || checkpoint.family == family, ErrorKind::Input,
        "[engine.open] {} is a model of another family; got {}, expected {}.", path.string(),
        checkpoint.family, family);
  return checkpoint;
}

std::unique_ptr<Model> open_model(const fs::path& path, const std::string& family) {
  std::unique_ptr<Model> model;
  if (const auto checkpoint = open_checkpoint(path, family)) {
    model = find_family(checkpoint->family).build(checkpoint->config, checkpoint->model);
    load_state(model->network(), checkpoint->model, path.string());
    model->set_origin(model_path(path));
  } else {
    model = import_foreign(path, family);
  }
  model->set_initialized();
  return model;
}

}  // namespace ubique::engine
