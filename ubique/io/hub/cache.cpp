// SPDX-License-Identifier: Apache-2.0
// Finding downloads, listing them, and writing blobs, links and refs.
#include "ubique/io/hub/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

std::string environment_text(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// The commit that a revision of a downloaded model means; empty if that is not known.
std::string commit_of(const fs::path& folder, const std::string& revision) {
  std::error_code ignored;
  if (is_hex(revision) && fs::is_directory(folder / "snapshots" / revision, ignored)) {
    return revision;
  }
  const auto ref = folder / "refs" / revision;
  if (!fs::is_regular_file(ref, ignored)) return {};
  try {
    return std::string(trim(read_file(ref, 1 << 10)));
  } catch (const Error&) {
    return {};
  }
}

std::int64_t bytes_below(const fs::path& folder) {
  std::int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; it != end; it.increment(error)) {
    if (error) break;
    std::error_code ignored;
    if (!it->is_regular_file(ignored)) continue;  // follows links
    const auto size = it->file_size(ignored);
    if (!ignored) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

/// "models--OWNER--NAME"; nothing for another folder.
std::optional<HubName> name_of_folder(const std::string& folder) {
  constexpr std::string_view kPrefix = "models--";
  const auto middle = folder.find("--", kPrefix.size());
  if (!folder.starts_with(kPrefix) || middle == std::string::npos) return std::nullopt;
  return parse_hub_name(folder.substr(kPrefix.size(), middle - kPrefix.size()) + "/" +
                        folder.substr(middle + 2));
}

[[noreturn]] void fail_link(const fs::path& path, const std::error_code& error) {
  fail(ErrorKind::Input, "[io.hub] cannot write {}; {}. HF_HUB_CACHE names another folder.",
       path.string(), error.message());
}

}  // namespace

fs::path hub_home() {
  if (const auto home = environment_text("HF_HOME"); !home.empty()) return home;
  const auto cache = environment_text("XDG_CACHE_HOME");
  return (cache.empty() ? fs::path(environment_text("HOME")) / ".cache" : fs::path(cache)) /
         "huggingface";
}

fs::path hub_cache() {
  const auto cache = environment_text("HF_HUB_CACHE");
  return cache.empty() ? hub_home() / "hub" : fs::path(cache);
}

fs::path hub_model_folder(const fs::path& cache, const HubName& name) {
  return cache / ("models--" + name.owner + "--" + name.name);
}

std::optional<fs::path> find_downloaded(const HubName& name) {
  const auto folder = hub_model_folder(hub_cache(), name);
  const auto commit = commit_of(folder, name.revision);
  std::error_code ignored;
  // What a ref says becomes part of a path.
  if (!is_safe_path(commit) || commit.find('/') != std::string::npos) return std::nullopt;
  auto snapshot = folder / "snapshots" / commit;
  return fs::is_directory(snapshot, ignored) ? std::optional(std::move(snapshot)) : std::nullopt;
}

fs::path hub_folder(const std::string& given) {
  std::error_code ignored;
  const auto name = parse_hub_name(given);
  if (fs::exists(given, ignored) || !name) return given;
  if (const auto found = find_downloaded(*name)) return *found;
  const auto at = name->revision == "main" ? "" : "@" + name->revision;
  fail(ErrorKind::Input,
       "[io.hub] the model {} is not here; got neither a folder of that name nor a download in {}. "
       "`ubique pull hf:{}{}` gets it.",
       printable(given), hub_model_folder(hub_cache(), *name).string(), name->text(),
       printable(at));
}

fs::path hub_folder_if_here(const std::string& given) {
  const auto name = parse_hub_name(given);
  std::error_code ignored;
  if (!name || fs::exists(given, ignored)) return given;
  if (const auto found = find_downloaded(*name)) return *found;
  return given.starts_with("hf:") ? hub_folder(given) : fs::path(given);
}

std::vector<DownloadedModel> downloaded_models() {
  std::vector<DownloadedModel> models;
  std::error_code error;
  for (fs::directory_iterator it(hub_cache(), error), end; it != end; it.increment(error)) {
    if (error) break;
    const auto name = name_of_folder(it->path().filename().string());
    if (!name) continue;
    const auto folder = find_downloaded(*name);
    if (!folder) continue;
    models.push_back({.name = name->text(),
                      .commit = folder->filename().string(),
                      .folder = *folder,
                      .bytes = bytes_below(*folder)});
  }
  std::ranges::sort(models, {}, &DownloadedModel::name);
  return models;
}

HubStore::HubStore(fs::path cache, const HubName& name, std::string commit)
    : folder_(hub_model_folder(cache, name)), commit_(std::move(commit)) {
  make_folder(folder_ / "blobs");
  make_folder(folder_ / "refs");
  make_folder(snapshot());
}

bool HubStore::has(const fs::path& folder, const std::string& commit, const HubFile& file) {
  for (const auto& place :
       {folder / "snapshots" / commit / file.path, folder / "blobs" / file.digest}) {
    std::error_code error;
    const bool is_file = fs::is_regular_file(place, error);
    if (is_file && static_cast<std::int64_t>(fs::file_size(place, error)) == file.bytes && !error) {
      return true;
    }
  }
  return false;
}

void HubStore::link(const std::string& path, const std::string& digest) const {
  const auto place = snapshot() / path;
  std::error_code error;
  // Other programs move the blob there where the file system has no links.
  if (!fs::exists(blob(digest), error) && fs::is_regular_file(place, error)) return;
  make_folder(place.parent_path());
  fs::path target = fs::path("..") / ".." / "blobs" / digest;
  for (auto slashes = std::ranges::count(path, '/'); slashes > 0; --slashes) {
    target = ".." / target;
  }
  if (fs::is_symlink(place, error) && fs::read_symlink(place, error) == target) return;
  const auto temporary = place.parent_path() / fmt::format(".ubique-{}.link", ::getpid());
  fs::remove(temporary, error);
  fs::create_symlink(target, temporary, error);
  if (error) fs::create_hard_link(blob(digest), temporary, error);
  if (error) fs::copy_file(blob(digest), temporary, error);
  if (!error) fs::rename(temporary, place, error);
  if (error) fail_link(place, error);
}

void HubStore::set_revision(const std::string& revision) const {
  const auto ref = folder_ / "refs" / revision;
  make_folder(ref.parent_path());
  write_file(ref, commit_);
}

HubLock::HubLock(const fs::path& cache, const HubName& name) {
  const auto folder = cache / ".locks" / hub_model_folder("", name);
  make_folder(folder);
  const auto path = folder / "ubique.lock";
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_link(path, {errno, std::generic_category()});
}

HubLock::~HubLock() { ::close(descriptor_); }

bool HubLock::try_lock() { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

}  // namespace ubique::io
