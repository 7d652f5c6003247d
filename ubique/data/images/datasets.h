// SPDX-License-Identifier: Apache-2.0
// Data sets of pictures and of where people looked: the catalogue of known ones, and any folders.
// Stimuli, maps and fixations belong together by name and size, and both are checked. Nothing is
// downloaded.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/data/images/blur.h"
#include "ubique/data/images/fixations.h"

namespace ubique::data {

enum class SplitRule {
  Given,     ///< folders train and val
  Shuffled,  ///< NumPy's shuffle with seed 42 of the sorted files, training first
  ByClass,   ///< one such shuffle used for each class
};

/// A known data set and how MSI-Net was trained on it.
struct SaliencySet {
  std::string_view name;
  FrameSize frame;  ///< of the network
  int train, valid;
  SplitRule split;
  int classes;   ///< SplitRule::ByClass
  double sigma;  ///< of the blur that makes maps of fixations, in pixels; 0: maps are shipped
  std::string_view about;
};

std::span<const SaliencySet> saliency_sets();
/// Usage error with the nearest name, for one that is not in the catalogue.
const SaliencySet& saliency_set(std::string_view name);

/// A picture and what is known of it; paths are empty where there is nothing.
struct SaliencySample {
  std::string id;  ///< path below the stimuli, without ending: "train/0001"
  std::filesystem::path stimulus, map, fixations;
  /// Where one file holds the fixations of many pictures.
  std::shared_ptr<const FixationList> known;

  bool has_fixations() const { return known != nullptr || !fixations.empty(); }
};

struct SaliencyData {
  std::string name;
  FrameSize frame;
  FixationBlur blur = {};  ///< of the maps that have to be made
  std::vector<SaliencySample> train, valid;
};

/// Folders by any paths; `fixations` may be one MATLAB file, and `maps` or `fixations` may be left
/// out, not both.
struct SaliencyFolders {
  std::filesystem::path stimuli, maps, fixations;
  FrameSize frame{240, 320};
  FixationBlur blur = {};    ///< where maps have to be made
  double valid_share = 0.2;  ///< unless there are folders train and val
};

/// ROOT/NAME with stimuli/, saliency/ (or maps/, or fixation/) and fixations/. Input error, which
/// says what is expected where, if something is missing, does not belong together or has another
/// number.
SaliencyData open_saliency_set(const std::filesystem::path& root, const SaliencySet& set,
                               int threads = 1);
SaliencyData open_saliency_folders(const SaliencyFolders& folders, int threads = 1);

/// Every .png, .jpg and .jpeg of a folder and those below it, sorted by its whole path; the one
/// file, if it is one. Hidden files and CAT2000's folders Output are passed over.
std::vector<std::filesystem::path> images_in(const std::filesystem::path& path);

/// The stimulus as the network's programs read it: RGB, as stored.
io::Picture read_stimulus(const SaliencySample& sample);
/// The map, or one made of the fixations: 0..255, in the picture's size.
Image read_target(const SaliencySample& sample, const FixationBlur& blur, int threads = 1);
/// Fixations, and who made them where that is known. Input error if the data set has none.
FixationList looks_of(const SaliencySample& sample);
std::vector<Fixation> fixations_of(const SaliencySample& sample);

}  // namespace ubique::data
