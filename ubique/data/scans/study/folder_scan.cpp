// SPDX-License-Identifier: Apache-2.0
// Pairs scans with masks by file name, and detects the layout of a study.
#include "ubique/data/scans/study/folder_scan.h"

#include <array>
#include <map>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/data/scans/study/manifest.h"
#include "ubique/data/scans/study/npz_sample.h"
#include "ubique/data/scans/volume/scan_name.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 8> kMaskEndings = {
    "", "_mask", "-mask", "_lesion", "_lesion_mask", "_seg", "_label", "_labels"};

std::map<std::string, fs::path> by_stem(const std::vector<fs::path>& scans) {
  std::map<std::string, fs::path> stems;
  for (const auto& scan : scans) {
    const auto [entry, is_new] = stems.emplace(scan_stem(scan), scan);
    check(is_new, ErrorKind::Input,
          "[data.pairs] two files have the same name but for the ending: {} and {}; expected one "
          "of them.",
          entry->second.string(), scan.string());
  }
  return stems;
}

}  // namespace

Cohort scan_pairs(const fs::path& images, const fs::path& masks) {
  Cohort cohort;
  cohort.root = fs::absolute(images).lexically_normal().parent_path();
  cohort.source = "pairs";
  auto free_masks = by_stem(scans_in(masks));
  const auto mask_count = free_masks.size();
  for (const auto& [stem, image] : by_stem(scans_in(images))) {
    Subject subject;
    subject.id = stem;
    subject.image = image;
    for (const auto* ending : kMaskEndings) {
      const auto found = free_masks.find(stem + ending);
      if (found == free_masks.end()) continue;
      subject.mask = found->second;
      free_masks.erase(found);
      break;
    }
    cohort.subjects.push_back(std::move(subject));
  }
  check(!cohort.subjects.empty(), ErrorKind::Input,
        "[data.pairs] no scans in {}; expected files .nii or .nii.gz.", images.string());
  check(mask_count == 0 || free_masks.size() < mask_count, ErrorKind::Input,
        "[data.pairs] none of the {} masks in {} fits a scan in {}; got for example {}, expected "
        "{}.nii.gz or {}_mask.nii.gz.",
        mask_count, masks.string(), images.string(), free_masks.begin()->first,
        cohort.subjects.front().id, cohort.subjects.front().id);
  std::vector<std::string> left_over;
  for (const auto& [stem, path] : free_masks) left_over.push_back(stem);
  if (!left_over.empty()) {
    log::warn("[data.pairs] {} masks in {} fit no scan and are passed over: {}.", left_over.size(),
              masks.string(), first_few(left_over));
  }
  return cohort;
}

Cohort open_cohort(const fs::path& path, const BidsOptions& options) {
  check_readable(path);
  std::error_code ignored;
  check(fs::exists(path, ignored), ErrorKind::Input,
        "[data.cohort] there is no {}; expected a {}, or a folder that holds a study.",
        path.string(), kManifestName);
  check(!is_scan_name(path), ErrorKind::Input,
        "[data.cohort] {} is one scan; expected a {}, or a folder that holds a study.",
        path.string(), kManifestName);
  if (fs::is_regular_file(path, ignored)) return read_manifest(path);
  if (fs::exists(path / kManifestName, ignored)) return read_manifest(path / kManifestName);
  if (fs::is_directory(path / "images", ignored) && fs::is_directory(path / "masks", ignored)) {
    return scan_pairs(path / "images", path / "masks");
  }
  if (holds_npz(path)) return scan_npz(path);
  if (looks_like_bids(path)) return scan_bids(path, options);
  fail(
      ErrorKind::Input,
      "[data.cohort] {} is no study that can be read; looked for a file {}, for the folders images "
      "and masks, for .npz samples and for BIDS folders sub-*. Is it the folder above or below?",
      path.string(), kManifestName);
}

}  // namespace ubique::data
