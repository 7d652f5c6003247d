// SPDX-License-Identifier: Apache-2.0
// The subjects of a study: paths of scan and mask, and the values that folds are stratified by.
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
  std::string acquisition = "unknown";  ///< scan protocol; with the lesion size it is the stratum
  std::int64_t lesion_voxels = -1;      ///< mask > 0 in the mask's own grid; -1: not counted yet
};

struct Cohort {
  std::vector<Subject> subjects;
  std::filesystem::path root;  ///< the folder it was found in
  std::string source;          ///< "manifest", "bids" or "pairs"
};

/// A subject whose files cannot be used, and why.
struct UnusableSubject {
  std::string id, error;
};

/// Counts the lesion voxels that are not known yet, by reading the masks. A subject without a mask
/// stays at -1, and so does one whose mask cannot be read, which is returned.
std::vector<UnusableSubject> measure_lesions(Cohort& cohort);

/// Logs each error, and ends in one Input error that counts and names the subjects, if there are
/// any. `total` is the number of subjects that were looked at.
void refuse_unusable(const std::vector<UnusableSubject>& unusable, std::size_t total);

/// Input error that names the first few subjects without a mask: training and scores need one.
void require_masks(const Cohort& cohort);

/// "a, b, c and 12 more", for messages.
std::string first_few(const std::vector<std::string>& names, std::size_t most = 3);

}  // namespace ubique::data
