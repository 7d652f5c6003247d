// SPDX-License-Identifier: Apache-2.0
// The people of a study: one scan each, where its mask lies, and what the folds are balanced by.
// Knows files by name only; read_scan() opens them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ubique::data {

struct Subject {
  std::string id;
  std::filesystem::path image;
  std::optional<std::filesystem::path> mask;
  std::string acquisition = "unknown";  ///< how it was scanned: half of the stratum
  std::int64_t lesion_voxels = -1;      ///< mask > 0 in the mask's own grid; -1: not counted yet
};

struct Cohort {
  std::vector<Subject> subjects;
  std::filesystem::path root;  ///< the folder it was found in
  std::string source;          ///< "manifest", "bids" or "pairs"
};

/// Counts the lesion voxels that are not known yet, by reading the masks. A subject without a mask
/// stays at -1.
void measure_lesions(Cohort& cohort);

/// Input error if any subject has no mask: training and scores need one. Names the first few.
void require_masks(const Cohort& cohort);

/// "a, b, c and 12 more": names in messages.
std::string first_few(const std::vector<std::string>& names, std::size_t most = 3);

}  // namespace ubique::data
