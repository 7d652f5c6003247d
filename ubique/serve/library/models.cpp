// SPDX-License-Identifier: Apache-2.0
// The list is made when it is asked for: folders change.
#include "ubique/serve/library/models.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/serve/http/message.h"
#include "ubique/serve/library/about_model.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestRun = 3;

std::int64_t bytes_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored))
    return static_cast<std::int64_t>(fs::file_size(path, ignored));
  std::int64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path, ignored)) {
    if (entry.is_regular_file(ignored))
      bytes += static_cast<std::int64_t>(entry.file_size(ignored));
  }
  return bytes;
}

/// Folders that hold checkpoints/best or checkpoints/last: of a training that is itself, of a demo
/// or an experiment those below it.
void find_runs(const fs::path& folder, int depth, std::vector<fs::path>& runs) {
  std::error_code ignored;
  if (fs::is_directory(folder / "checkpoints", ignored)) {
    runs.push_back(folder);
    return;
  }
  if (depth == kDeepestRun) return;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) {
      find_runs(entry.path(), depth + 1, runs);
    }
  }
}

}  // namespace

Models::Models(Database& database, const Folders& folders, RecognizeFamily recognize,
               MoreModels more)
    : database_(database),
      folders_(folders),
      recognize_(std::move(recognize)),
      more_(std::move(more)) {}

void Models::add_runs(std::vector<ModelEntry>& entries) const {
  for (const auto& row : database_.rows(
           "SELECT id, family, title FROM items WHERE kind IN ('model', 'adapter', 'export') ORDER "
           "BY id DESC")) {
    std::vector<fs::path> runs;
    const auto folder = folders_.result(row.number("id"));
    find_runs(folder, 0, runs);
    for (const auto& run : runs) {
      const auto below = run.lexically_relative(folder).generic_string();
      const auto ref = "model:run-" + row.text("id") + (below == "." ? "" : "/" + below);
      const auto name = row.text("title") + (below == "." ? "" : " (" + below + ")");
      entries.push_back({ref, row.text("family"), name, "run", run});
    }
  }
}

std::vector<ModelEntry> Models::list() const {
  std::vector<ModelEntry> entries;
  add_runs(entries);
  for (const auto& row :
       database_.rows("SELECT ref, family, name, path FROM models ORDER BY name")) {
    entries.push_back({"model:" + row.text("ref"), row.text("family"), row.text("name"), "folder",
                       row.text("path")});
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folders_.models, ignored)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with('.')) continue;
    entries.push_back({"model:data/" + name, recognize_ ? recognize_(entry.path()) : "", name,
                       "folder", entry.path()});
  }
  if (more_) {
    auto more = more_();
    std::ranges::move(more, std::back_inserter(entries));
  }
  return entries;
}

Json Models::json_of(const ModelEntry& entry) const {
  const auto below = entry.path.lexically_relative(folders_.root).generic_string();
  const bool ours = !below.empty() && !below.starts_with("..");
  return {{"ref", entry.ref},
          {"family", entry.family},
          {"name", entry.name},
          {"path_shown", ours ? below : entry.path.filename().string()},
          {"bytes", bytes_of(entry.path)},
          {"source", entry.source},
          {"about", about_model(entry.path)}};
}

Json Models::json() const {
  auto models = Json::array();
  std::error_code ignored;
  for (const auto& entry : list()) {
    // One whose files are gone cannot be chosen; it is there again when they are.
    if (fs::exists(entry.path, ignored)) models.push_back(json_of(entry));
  }
  return {{"models", std::move(models)}};
}

fs::path Models::resolve(const std::string& rest) const {
  std::error_code ignored;
  for (const auto& entry : list()) {
    if (entry.ref != "model:" + rest) continue;
    check(fs::exists(entry.path, ignored), ErrorKind::Input,
          "[serve.model] the files of model '{}' are gone.", printable(rest, 80));
    return entry.path;
  }
  fail(ErrorKind::Input, "[serve.model] there is no model '{}'; /api/models lists them.",
       printable(rest, 80));
}

ModelEntry Models::add(const fs::path& path, const std::string& name) {
  std::error_code error;
  const auto full = fs::canonical(path, error);
  check(!error, ErrorKind::Input, "[serve.model] there is no such file or folder; got '{}'.",
        printable(path.string(), 160));
  const auto family = recognize_ ? recognize_(full) : std::string();
  check(!family.empty(), ErrorKind::Input,
        "[serve.model] no family knows this; got '{}', expected a run, a checkpoint or a model's "
        "files.",
        printable(full.string(), 160));
  const auto shown = name.empty() ? full.filename().string() : name;
  auto ref = safe_name(shown);
  for (int i = 2; database_.row("SELECT ref FROM models WHERE ref = ?", {ref}); ++i) {
    ref = fmt::format("{}-{}", safe_name(shown), i);
  }
  database_.run("INSERT INTO models (ref, family, name, path) VALUES (?, ?, ?, ?)",
                {ref, family, shown, full.string()});
  return {"model:" + ref, family, shown, "folder", full};
}

void Models::remove(const std::string& rest) {
  database_.run("DELETE FROM models WHERE ref = ?", {rest});
  if (database_.changes() == 0) missing("model that was added by path", rest);
}

}  // namespace ubique::serve
