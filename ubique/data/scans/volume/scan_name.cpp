// SPDX-License-Identifier: Apache-2.0
// Parses names of scan files and lists the scans of a folder.
#include "ubique/data/scans/volume/scan_name.h"

#include <algorithm>

#include "ubique/base/text/text.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

/// Length of ".nii" or ".nii.gz" at the end; 0 if neither is there.
std::size_t scan_extension(const std::string& name) {
  const auto lower = lowercase(name);
  for (const std::string_view extension : {".nii.gz", ".nii"}) {
    if (lower.size() > extension.size() && lower.ends_with(extension)) return extension.size();
  }
  return 0;
}

}  // namespace

bool is_scan_name(const fs::path& path) {
  const auto name = path.filename().string();
  return !name.starts_with(".") && scan_extension(name) > 0;
}

std::string scan_stem(const fs::path& path) {
  const auto name = path.filename().string();
  return name.substr(0, name.size() - scan_extension(name));
}

BidsName::BidsName(const fs::path& path) {
  for (const auto& part : split(scan_stem(path), '_')) {
    const auto dash = part.find('-');
    if (dash == std::string::npos) {
      words.push_back(part);
    } else {
      entities.emplace(part.substr(0, dash), part.substr(dash + 1));
    }
  }
}

std::string BidsName::entity(const std::string& key) const {
  const auto found = entities.find(key);
  return found == entities.end() ? std::string() : found->second;
}

std::vector<fs::path> scans_in(const fs::path& folder) {
  std::vector<fs::path> scans;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (is_scan_name(entry->path()) && entry->is_regular_file(ignored)) {
      scans.push_back(entry->path());
    }
  }
  std::sort(scans.begin(), scans.end());
  return scans;
}

}  // namespace ubique::data
