// SPDX-License-Identifier: Apache-2.0
// Names of scan files: the stem without .nii(.gz), and BIDS entities such as ses-2.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ubique::data {

/// Ends in ".nii" or ".nii.gz", in any case.
bool is_scan_name(const std::filesystem::path& path);
/// The file's name without folder and .nii(.gz).
std::string scan_stem(const std::filesystem::path& path);

/// sub-07_ses-2_acq-spc3_T2w: entities {sub: 07, ses: 2, acq: spc3}, words {T2w}.
struct BidsName {
  explicit BidsName(const std::filesystem::path& path);

  std::map<std::string, std::string> entities;
  std::vector<std::string> words;  ///< parts without '-'; the last one is the suffix

  std::string entity(const std::string& key) const;  ///< "" if absent
  std::string suffix() const { return words.empty() ? std::string() : words.back(); }
};

/// The scans of one folder, sorted by name; empty if there is no such folder.
std::vector<std::filesystem::path> scans_in(const std::filesystem::path& folder);

}  // namespace ubique::data
