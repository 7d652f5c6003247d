// SPDX-License-Identifier: Apache-2.0
// Keys, lookup and rebuilding of cache entries.
#include "ubique/data/scans/study/scan_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/scans/study/scan_cache_entry.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

/// FNV-1a. The entry also stores the key itself, so that a hash collision is detected.
std::uint64_t key_hash(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  }
  return hash;
}

/// Identifies a file's state without reading all of it: path, size, modification time, and a hash
/// of its first and last bytes. Names that are not UTF-8 are escaped, for the key is kept in an
/// entry as text. UnusableScan for a file that cannot be opened.
std::string file_identity(const fs::path& path) try {
  constexpr std::size_t kEdge = 4096;
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const auto text_of = [](std::span<const std::byte> part) {
    return std::string_view(reinterpret_cast<const char*>(part.data()), part.size());
  };
  const auto edge = std::min(kEdge, bytes.size());
  const auto changed = fs::last_write_time(path).time_since_epoch();
  const auto name = printable(fs::canonical(path).string(), std::string_view::npos);
  return fmt::format("{} {} bytes {} ns {:016x}{:016x}", name, bytes.size(),
                     std::chrono::duration_cast<std::chrono::nanoseconds>(changed).count(),
                     key_hash(text_of(bytes.first(edge))), key_hash(text_of(bytes.last(edge))));
} catch (const Error& error) {
  throw UnusableScan(error.what());
}

std::string plain_name(const std::string& id) {
  std::string name;
  for (const char letter : id.substr(0, 48)) {
    const bool plain = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                       (letter >= 'A' && letter <= 'Z') || letter == '_';
    name += plain ? letter : '-';
  }
  return name;
}

/// One number where the axes agree, as the keys of older entries have it.
std::string spacing_text(const Spacing3& spacing) {
  if (spacing == Spacing3(spacing[0])) return fmt::format("{:.17g}", spacing[0]);
  return fmt::format("{:.17g}x{:.17g}x{:.17g}", spacing[0], spacing[1], spacing[2]);
}

/// Quantiles are part of the key only where they are used.
std::string normalization_text(const PrepareOptions& options) {
  const auto name = to_string(options.normalization);
  if (options.normalization != Normalization::Quantile) return std::string(name);
  return fmt::format("{} {:.17g} to {:.17g}", name, options.low_quantile, options.high_quantile);
}

/// Removes temporary files of killed processes; a younger file may belong to a process that is
/// still writing.
void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24);
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const auto name = entry->path().filename().string();
    const bool temporary = name.starts_with(".ubique-") && name.ends_with(".tmp");
    if (temporary && entry->last_write_time(ignored) < old && !ignored) {
      leftovers.push_back(entry->path());
    }
  }
  for (const auto& path : leftovers) fs::remove(path, error);
}

}  // namespace

ScanCache::ScanCache(fs::path folder, ScanCacheOptions options)
    : folder_(std::move(folder)), options_(options) {
  const bool known =
      options_.dtype == DType::F16 || options_.dtype == DType::U8 || options_.dtype == DType::F32;
  check(known, ErrorKind::Usage,
        "[data.cache] scans cannot be kept as {}; expected f16, u8 or f32.",
        to_string(options_.dtype));
  check(options_.classes >= 2 && options_.classes <= 256, ErrorKind::Usage,
        "[data.cache] got {} classes, expected 2 to 256.", options_.classes);
  remove_leftovers(folder_);
}

std::string ScanCache::key_of(const Subject& subject) const {
  const auto& target = options_.target;
  return fmt::format("image {}; mask {}; {} {}x{}x{} at {} mm; {}; {}; {} classes; version {}",
                     file_identity(subject.image),
                     subject.mask ? file_identity(*subject.mask) : "none", to_string(target.method),
                     target.shape[0], target.shape[1], target.shape[2],
                     spacing_text(target.spacing), normalization_text(options_),
                     to_string(options_.dtype), options_.classes, kScanCacheVersion);
}

fs::path ScanCache::path_for(const Subject& subject, const std::string& key) const {
  return folder_ / fmt::format("{}-{:016x}.safetensors", plain_name(subject.id), key_hash(key));
}

fs::path ScanCache::path_of(const Subject& subject) const {
  return path_for(subject, key_of(subject));
}

bool ScanCache::contains(const Subject& subject) const {
  std::error_code ignored;
  return fs::exists(path_of(subject), ignored);
}

std::optional<ScanCache::Entry> ScanCache::open(const fs::path& path, const std::string& key) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  try {
    Entry entry(path, key);
    const auto is_known = [&] {
      const std::scoped_lock lock(mutex_);
      return verified_.contains(path);
    };
    if (!is_known()) entry.verify();
    const std::scoped_lock lock(mutex_);
    verified_.insert(path);
    return entry;
  } catch (const Error& error) {
    log::warn("[data.cache] a cached scan is made again: {}", error.what());
  }
  return std::nullopt;
}

void ScanCache::make(const Subject& subject, const fs::path& path, const std::string& key) {
  const auto sample = prepare_sample(subject, options_);
  std::error_code error;
  fs::create_directories(folder_, error);
  check(!error, ErrorKind::Input, "[data.cache] cannot make the folder {}; {}.", folder_.string(),
        error.message());
  write_cache_entry(path, key, sample.image, sample.mask ? &*sample.mask : nullptr, options_.dtype);
}

ScanCache::Entry ScanCache::get(const Subject& subject) {
  const auto key = key_of(subject);
  const auto path = path_for(subject, key);
  if (auto found = open(path, key)) return std::move(*found);
  make(subject, path, key);
  return {path, key};
}

}  // namespace ubique::data
