// SPDX-License-Identifier: Apache-2.0
// The catalogue of data sets, their splits, and reading of samples.
#include "ubique/data/images/datasets.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/data/images/pairing.h"
#include "ubique/data/images/splits.h"
#include "ubique/io/images/image.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr SaliencySet kSaliencySets[] = {
    {"salicon",
     {240, 320},
     10000,
     5000,
     SplitRule::Given,
     1,
     0,
     "SALICON 2017 (salicon.net): 480 x 640, 16 people by mouse, 5 s"},
    {"mit1003",
     {360, 360},
     803,
     200,
     SplitRule::Shuffled,
     1,
     0,
     "MIT1003 of Judd and others: up to 1024, 15 people, 3 s; maps *_fixMap.jpg"},
    {"cat2000",
     {216, 384},
     1600,
     400,
     SplitRule::ByClass,
     20,
     0,
     "CAT2000 train set (saliency.mit.edu): 1080 x 1920, 18 people, 5 s, 20 classes of 100"},
    {"dutomron",
     {360, 360},
     4168,
     1000,
     SplitRule::Shuffled,
     1,
     16,
     "DUT-OMRON: up to 401, 5 people, 2 s; a .mat per picture"},
    {"pascals",
     {360, 360},
     650,
     200,
     SplitRule::Shuffled,
     1,
     0,
     "PASCAL-S: up to 500, 8 people, 2 s"},
    {"osie",
     {240, 320},
     500,
     200,
     SplitRule::Shuffled,
     1,
     16,
     "OSIE: 600 x 800, 15 people, 3 s; one fixations.mat"},
    {"fiwi",
     {216, 384},
     99,
     50,
     SplitRule::Shuffled,
     1,
     30,
     "FiWI web pages: 768 x 1366, 11 people, 5 s; point pictures all5"},
    {"fixationadd1000",
     {360, 360},
     800,
     200,
     SplitRule::Shuffled,
     1,
     0,
     "1000 advertisements with maps of their own"},
};

bool starts_in(const SaliencySample& sample, std::string_view folder) {
  return sample.id.starts_with(folder) && sample.id.size() > folder.size() &&
         sample.id[folder.size()] == '/';
}

bool in_valid_folder(const SaliencySample& sample) {
  return starts_in(sample, "val") || starts_in(sample, "valid");
}

bool has_given_split(const std::vector<SaliencySample>& samples) {
  const auto given = [](const SaliencySample& sample) {
    return starts_in(sample, "train") || in_valid_folder(sample);
  };
  return std::ranges::all_of(samples, given) && std::ranges::any_of(samples, in_valid_folder);
}

void split_as_given(std::vector<SaliencySample> samples, SaliencyData& data) {
  for (auto& sample : samples) {
    (in_valid_folder(sample) ? data.valid : data.train).push_back(std::move(sample));
  }
}

void split_by(const Split& split, const std::vector<SaliencySample>& samples, SaliencyData& data) {
  for (const auto i : split.train) data.train.push_back(samples[static_cast<std::size_t>(i)]);
  for (const auto i : split.valid) data.valid.push_back(samples[static_cast<std::size_t>(i)]);
}

/// The first of these folders that exists; empty if none does.
fs::path first_folder(const fs::path& root, std::initializer_list<const char*> names) {
  std::error_code error;
  for (const auto* name : names) {
    if (fs::exists(root / name, error)) return root / name;
  }
  return {};
}

void check_numbers(const SaliencySet& set, std::size_t train, std::size_t valid,
                   const fs::path& folder) {
  check(
      train == static_cast<std::size_t>(set.train) && valid == static_cast<std::size_t>(set.valid),
      ErrorKind::Input,
      "[data.images] {} is not the whole of {}; got {} pictures to train and {} to validate "
      "with, expected {} and {}. For a part of it, name its folders with --stimuli and --maps.",
      folder.string(), set.name, train, valid, set.train, set.valid);
}

/// Splits by the set's rule. Shuffled splits depend on the number of pictures, so it is checked
/// first.
void split_by_rule(const SaliencySet& set, std::vector<SaliencySample> samples,
                   const fs::path& folder, SaliencyData& data) {
  if (set.split == SplitRule::Given) {
    split_as_given(std::move(samples), data);
    return check_numbers(set, data.train.size(), data.valid.size(), folder);
  }
  const auto valid = std::min(samples.size(), static_cast<std::size_t>(set.valid));
  check_numbers(set, samples.size() - valid, valid, folder);
  split_by(split_by_class(set.classes, set.train / set.classes, set.valid / set.classes), samples,
           data);
}

}  // namespace

std::span<const SaliencySet> saliency_sets() { return kSaliencySets; }

const SaliencySet& saliency_set(std::string_view name) {
  const auto found = std::ranges::find(kSaliencySets, name, &SaliencySet::name);
  if (found != std::end(kSaliencySets)) return *found;
  std::vector<std::string> names;
  for (const auto& set : kSaliencySets) names.emplace_back(set.name);
  fail(ErrorKind::Usage, "[data.images] unknown data set '{}'; expected one of {}.{}", name,
       join(names, ", "), hint(name, names));
}

SaliencyData open_saliency_set(const fs::path& root, const SaliencySet& set, int threads) {
  const auto folder = root / set.name;
  const SaliencyFolders folders{folder / "stimuli",
                                first_folder(folder, {"saliency", "maps", "fixation"}),
                                first_folder(folder, {"fixations"}),
                                set.frame,
                                {.sigma = set.sigma},
                                0};
  std::error_code error;
  const bool there = fs::exists(folders.stimuli, error) &&
                     (!folders.maps.empty() || (set.sigma > 0 && !folders.fixations.empty()));
  check(there, ErrorKind::Input,
        "[data.images] {} is not in {}; expected the folders stimuli and {} there. It has to be "
        "fetched by hand: {}.",
        set.name, folder.string(), set.sigma > 0 ? "fixations (or saliency)" : "saliency",
        set.about);
  SaliencyData data{std::string(set.name), set.frame, {.sigma = set.sigma}, {}, {}};
  split_by_rule(set, pair_files(folders, threads), folder, data);
  return data;
}

SaliencyData open_saliency_folders(const SaliencyFolders& folders, int threads) {
  const bool alone = folders.maps.empty() && folders.fixations.empty();
  std::error_code ignored;
  check(!alone || fs::exists(folders.stimuli, ignored), ErrorKind::Input,
        "[data.images] there is no {}; expected pictures there, and maps or fixations beside it.",
        folders.stimuli.string());
  check(!alone, ErrorKind::Usage,
        "[data.images] got stimuli alone; expected --maps or --fixations too.");
  check(folders.valid_share >= 0 && folders.valid_share < 1, ErrorKind::Usage,
        "[data.images] the share to validate with is {}; expected 0 up to less than 1.",
        folders.valid_share);
  auto samples = pair_files(folders, threads);
  SaliencyData data{"folders", folders.frame, folders.blur, {}, {}};
  if (has_given_split(samples)) {
    split_as_given(std::move(samples), data);
  } else {
    const auto count = static_cast<std::int64_t>(samples.size());
    auto valid = std::llround(folders.valid_share * static_cast<double>(count));
    if (folders.valid_share > 0 && count > 1) valid = std::clamp<long long>(valid, 1, count - 1);
    if (count == 1) valid = 0;
    split_by(shuffled_split(count - valid, valid), samples, data);
  }
  return data;
}

io::Picture read_stimulus(const SaliencySample& sample) {
  return io::as_rgb(io::read_image(sample.stimulus, io::ExifOrientation::Ignore));
}

Image read_target(const SaliencySample& sample, const FixationBlur& blur, int threads) {
  if (!sample.map.empty()) {
    return to_image(io::as_grey(io::read_image(sample.map, io::ExifOrientation::Ignore)));
  }
  const auto size = io::image_size(sample.stimulus, io::ExifOrientation::Ignore);
  return fixation_map(fixations_of(sample), {size.height, size.width}, blur,
                      sample.stimulus.string(), threads);
}

FixationList fixation_list_of(const SaliencySample& sample) {
  if (sample.known) return *sample.known;
  check(!sample.fixations.empty(), ErrorKind::Input,
        "[data.images] there are no fixations for {}; expected them in --fixations, or in the "
        "folder fixations beside the stimuli.",
        sample.stimulus.string());
  return read_fixation_list(sample.fixations);
}

std::vector<Fixation> fixations_of(const SaliencySample& sample) {
  return fixation_list_of(sample).fixations;
}

}  // namespace ubique::data
