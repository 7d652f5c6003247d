// SPDX-License-Identifier: Apache-2.0
// Items and their files.
#include "ubique/serve/library/items.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/library/file_types.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kListedFiles = 200;
constexpr std::size_t kLargestOutcome = 256 << 10U;
constexpr const char* kItemColumns =
    "SELECT id, kind, family, title, created, liked, request, files FROM items ";

/// Names below the folder with sizes, in order; links are left out.
Json files_of(const fs::path& folder) {
  std::vector<std::pair<std::string, std::int64_t>> found;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (!entry.is_regular_file(ignored) || entry.is_symlink(ignored)) continue;
    const auto name = entry.path().lexically_relative(folder).generic_string();
    if (name == "job.json") continue;
    found.emplace_back(name, static_cast<std::int64_t>(entry.file_size(ignored)));
  }
  std::ranges::sort(found);
  auto files = Json::array();
  for (const auto& [name, bytes] : found) files.push_back({{"name", name}, {"bytes", bytes}});
  return files;
}

/// For LIKE: every word is looked for as it is.
std::string like_pattern(const std::string& word) {
  std::string pattern = "%";
  for (const char c : word) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

}  // namespace

std::string url_path(const std::string& name) {
  std::string path;
  for (const unsigned char c : name) {
    const bool plain =
        std::isalnum(c) != 0 || c == '/' || c == '-' || c == '_' || c == '.' || c == '~';
    path += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return path;
}

void Library::add(const Job& job, const std::string& kind) {
  auto files = files_of(folders_.result(job.id));
  database_.run(
      "INSERT INTO items (id, kind, family, title, created, request, files) VALUES (?, ?, ?, ?, ?, "
      "?, ?)",
      {job.id, kind, job.request.family, job.title, time_now(),
       json_text(request_json(job.request)), json_text(files)});
  events_.append("library", json(require(job.id)));
}

Row Library::require(std::int64_t id) const {
  auto row = database_.row(std::string(kItemColumns) + "WHERE id = ?", {id});
  if (!row) missing("item", std::to_string(id));
  return *row;
}

Json Library::json(const Row& row) const {
  const auto id = row.text("id");
  const auto files = parse_json(row.text("files"), "a stored item");
  auto listed = Json::array();
  for (const auto& file : files) {
    if (listed.size() == kListedFiles) break;
    const auto name = file["name"].get<std::string>();
    listed.push_back({{"name", name},
                      {"type", mime_of(name)},
                      {"bytes", file["bytes"]},
                      {"url", fmt::format("/api/library/{}/files/{}", id, url_path(name))},
                      {"ref", fmt::format("library:{}/{}", id, name)}});
  }
  return {{"id", id},
          {"job", id},
          {"kind", row.text("kind")},
          {"family", row.text("family")},
          {"title", row.text("title")},
          {"created", row.text("created")},
          {"liked", row.number("liked") != 0},
          {"ref", "library:" + id},
          {"files", std::move(listed)},
          {"more_files", files.size() - std::min(files.size(), kListedFiles)},
          {"request", parse_json(row.text("request"), "a stored item")},
          {"outcome", nullptr}};
}

Json Library::get(std::int64_t id) const {
  auto item = json(require(id));
  std::error_code ignored;
  const auto path = folders_.result(id) / "outcome.json";
  const auto bytes = fs::file_size(path, ignored);
  if (!ignored && bytes <= kLargestOutcome)
    item["outcome"] = parse_json(read_file(path), "outcome");
  return item;
}

std::vector<Json> Library::list(const ItemQuery& query) const {
  std::string sql = std::string(kItemColumns) + "WHERE 1 = 1";
  std::vector<Cell> values;
  const auto add = [&](const char* condition, const Cell& value) {
    sql += condition;
    values.push_back(value);
  };
  if (!query.kind.empty()) add(" AND kind = ?", query.kind);
  if (query.liked) sql += " AND liked = 1";
  if (query.before > 0) add(" AND id < ?", query.before);
  if (!query.playlist.empty()) {
    add(" AND id IN (SELECT item FROM playlist_items WHERE playlist = ?)", query.playlist);
  }
  auto words = split(query.words, ' ');
  words.resize(std::min<std::size_t>(words.size(), 8));
  for (const auto& word : words) {
    add(" AND (title || ' ' || request) LIKE ? ESCAPE '\\'", like_pattern(word));
  }
  add(" ORDER BY id DESC LIMIT ?", query.most);
  std::vector<Json> items;
  for (const auto& row : database_.rows(sql, values)) items.push_back(json(row));
  return items;
}

Json Library::change(std::int64_t id, std::optional<std::string> title, std::optional<bool> liked) {
  Transaction transaction(database_);
  require(id);
  if (title) database_.run("UPDATE items SET title = ? WHERE id = ?", {*title, id});
  if (liked) {
    database_.run("UPDATE items SET liked = ? WHERE id = ?", {std::int64_t{*liked ? 1 : 0}, id});
  }
  auto item = json(require(id));
  events_.append("library", item);
  transaction.commit();
  return item;
}

void Library::forget(std::int64_t id) {
  Transaction transaction(database_);
  require(id);
  database_.run("DELETE FROM items WHERE id = ?", {id});
  database_.run("UPDATE jobs SET item = NULL WHERE id = ?", {id});
  events_.append("library", {{"id", std::to_string(id)}, {"deleted", true}});
  transaction.commit();
}

void Library::remove(std::int64_t id) {
  std::error_code ignored;  // what stays is removed at the next start
  try {
    forget(id);
  } catch (const DiskFull&) {  // deleting is what makes room, and was asked for
    fs::remove_all(folders_.result(id), ignored);
    return forget(id);
  }
  fs::remove_all(folders_.result(id), ignored);
}

fs::path Library::folder(std::int64_t id) const {
  require(id);
  return folders_.result(id);
}

fs::path Library::file(std::int64_t id, const std::string& name) const {
  const auto path = inside(folder(id), name);
  std::error_code ignored;
  if (!path || !fs::is_regular_file(*path, ignored)) missing("file", name);
  return *path;
}

void Library::clean() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folders_.results, ignored)) {
    const auto name = entry.path().filename().string();
    const bool known = database_.row("SELECT id FROM items WHERE id = ?", {name}).has_value();
    // Only what carries our mark: nobody's files are removed by mistake.
    if (!known && fs::exists(entry.path() / "job.json", ignored)) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace ubique::serve
