// SPDX-License-Identifier: Apache-2.0
// Saliency data sets: a catalogue of known ones, and any folders of stimuli, maps and fixations.
// Files are matched by name, and their sizes are checked. Nothing is downloaded.
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
  ByClass,   ///< one such shuffle, applied to each class
};

/// A known data set and how MSI-Net was trained on it.
struct SaliencySet {
  std::string_view name;
  FrameSize frame;  ///< input size of the network
  int train, valid;
  SplitRule split;
  int classes;   ///< SplitRule::ByClass
  double sigma;  ///< blur that makes maps from fixations, in pixels; 0: maps are included
  std::string_view about;
};

std::span<const SaliencySet> saliency_sets();
/// Usage error with the nearest name, for one that is not in the catalogue.
const SaliencySet& saliency_set(std::string_view name);

/// A picture with its map and fixations; a path is empty where there is no file.
struct SaliencySample {
  std::string id;  ///< path below the stimuli, without ending: "train/0001"
  std::filesystem::path stimulus, map, fixations;
  /// Set where one file holds the fixations of many pictures.
  std::shared_ptr<const FixationList> known;

  bool has_fixations() const { return known != nullptr || !fixations.empty(); }
};

struct SaliencyData {
  std::string name;
  FrameSize frame;
  FixationBlur blur = {};  ///< for maps made from fixations
  std::vector<SaliencySample> train, valid;
};

/// Any folders. `fixations` may be one MATLAB file; `maps` or `fixations` may be empty, not both.
struct SaliencyFolders {
  std::filesystem::path stimuli, maps, fixations;
  FrameSize frame{240, 320};
  FixationBlur blur = {};    ///< for maps made from fixations
  double valid_share = 0.2;  ///< ignored if there are folders train and val
};

/// ROOT/NAME with stimuli/, saliency/ (or maps/, or fixation/) and fixations/. Input error that
/// says what is expected where, if files are missing, do not match or have another count.
SaliencyData open_saliency_set(const std::filesystem::path& root, const SaliencySet& set,
                               int threads = 1);
SaliencyData open_saliency_folders(const SaliencyFolders& folders, int threads = 1);

/// RGB, EXIF orientation ignored, as the original programs read it.
io::Picture read_stimulus(const SaliencySample& sample);
/// The map, or one made from the fixations: 0..255, in the picture's size.
Image read_target(const SaliencySample& sample, const FixationBlur& blur, int threads = 1);
/// Fixations, with observers where they are known. Input error if the data set has none.
FixationList fixation_list_of(const SaliencySample& sample);
std::vector<Fixation> fixations_of(const SaliencySample& sample);

}  // namespace ubique::data
