// SPDX-License-Identifier: Apache-2.0
// An upload is a folder with one file, and a row; the row comes last.
#include "ubique/serve/library/uploads.h"

#include <fmt/format.h>

#include <map>
#include <random>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/library/file_types.h"
#include "ubique/serve/queue/job.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSniffedBytes = 4096;

/// Ends with what the content says, so that commands read it as that.
std::string name_with_ending(const std::string& name, const FileType& type) {
  auto safe = safe_name(name);
  const auto low = lowercase(safe);
  const bool text = type.type == "text" || type.type == "puzzle";
  const bool fits =
      low.ends_with(type.ending) || (type.ending == ".jpg" && low.ends_with(".jpeg")) ||
      (text && mime_of(low) != "application/octet-stream" && mime_of(low).starts_with("text/")) ||
      (text && low.ends_with(".json"));
  return fits || (text && low.find('.') != std::string::npos &&
                  mime_of(low) == "application/octet-stream")
             ? safe
             : safe + type.ending;
}

}  // namespace

std::string random_name() {
  std::random_device device;
  std::string name;
  for (int i = 0; i < 4; ++i) name += fmt::format("{:08x}", device());
  return name;
}

Json Upload::json() const {
  return {{"ref", "upload:" + id}, {"id", id},     {"name", name},
          {"type", type},          {"mime", mime}, {"bytes", bytes}};
}

Upload Uploads::add(const std::string& name, const std::string& type, const std::string& mime,
                    std::int64_t bytes, const std::function<void(const fs::path&)>& place) {
  Upload upload{
      .id = random_name(), .name = name, .type = type, .mime = mime, .bytes = bytes, .path = {}};
  const auto folder = folders_.upload(upload.id);
  make_folder(folder);
  upload.path = folder / name;
  try {
    place(upload.path);
    database_.run(
        "INSERT INTO uploads (id, name, type, mime, bytes, created) VALUES (?, ?, ?, ?, ?, ?)",
        {upload.id, name, type, mime, bytes, time_now()});
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    throw;
  }
  return upload;
}

Upload Uploads::take(const ReceivedFile& file) {
  const auto type = sniff(read_start(file.path, kSniffedBytes));
  if (!type) {
    refuse(415, "input",
           fmt::format("[serve.upload] '{}' is nothing that a command reads; expected sound, a "
                       "picture, a scan (NIfTI), a video, text or a puzzle.",
                       printable(file.name, 80)));
  }
  return add(name_with_ending(file.name, *type), type->type, type->mime, file.bytes,
             [&](const fs::path& path) { fs::rename(file.path, path); });
}

Upload Uploads::keep_text(const std::string& name, const std::string& text) {
  return add(safe_name(name), "text", "text/plain", static_cast<std::int64_t>(text.size()),
             [&](const fs::path& path) { write_file(path, text); });
}

Upload Uploads::keep_folder(const std::vector<std::string>& references) {
  constexpr std::string_view kKind = "upload:";
  std::int64_t bytes = 0;
  std::map<std::string, fs::path> files;
  for (const auto& reference : references) {
    const auto upload = get(reference.substr(kKind.size()));
    check(upload.type != "folder" && files.emplace(upload.name, upload.path).second,
          ErrorKind::Usage,
          "[serve.upload] a folder needs files with different names; got '{}' twice, or a folder.",
          printable(upload.name, 80));
    bytes += upload.bytes;
  }
  return add("files", "folder", "inode/directory", bytes, [&](const fs::path& folder) {
    make_folder(folder);
    for (const auto& [name, path] : files) {
      std::error_code no_link;
      fs::create_hard_link(path, folder / name, no_link);
      if (no_link) fs::copy_file(path, folder / name);
    }
  });
}

std::optional<Upload> Uploads::find(const std::string& id) const {
  const auto row =
      database_.row("SELECT id, name, type, mime, bytes FROM uploads WHERE id = ?", {id});
  if (!row) return std::nullopt;
  return Upload{.id = row->text("id"),
                .name = row->text("name"),
                .type = row->text("type"),
                .mime = row->text("mime"),
                .bytes = row->number("bytes"),
                .path = folders_.upload(row->text("id")) / row->text("name")};
}

Upload Uploads::get(const std::string& id) const {
  auto upload = find(id);
  if (!upload) missing("upload", id);
  return *upload;
}

void Uploads::remove(const std::string& id) {
  const auto upload = get(id);
  database_.run("DELETE FROM uploads WHERE id = ?", {id});
  std::error_code ignored;
  fs::remove_all(upload.path.parent_path(), ignored);
}

void Uploads::clean() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folders_.uploads, ignored)) {
    if (!find(entry.path().filename().string())) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace ubique::serve
