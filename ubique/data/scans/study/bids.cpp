// SPDX-License-Identifier: Apache-2.0
// Finds scans and lesion masks of a BIDS folder by their names.
#include "ubique/data/scans/study/bids.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/data/scans/volume/scan_name.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

struct LesionMask {
  fs::path path;
  BidsName name;
};
/// Masks of each sub entity.
using MasksBySubject = std::map<std::string, std::vector<LesionMask>>;

std::vector<fs::path> folders_named(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename().string().starts_with(prefix) && entry->is_directory(ignored)) {
      found.push_back(entry->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_lesion_mask(const fs::path& path, const BidsName& name) {
  static const std::set<std::string> kSuffixes = {"mask",  "roi",    "dseg",   "seg",
                                                  "label", "lesion", "lesions"};
  const auto text = lowercase(scan_stem(path));
  if (!kSuffixes.contains(lowercase(name.suffix()))) return false;
  return text.find("lesion") != std::string::npos || text.find("stroke") != std::string::npos ||
         name.entity("label") == "L";
}

void collect_masks(const fs::path& path, MasksBySubject& masks) {
  std::error_code ignored;
  if (!is_scan_name(path) || !fs::is_regular_file(path, ignored)) return;
  BidsName name(path);
  const auto subject = name.entity("sub");
  if (!subject.empty() && is_lesion_mask(path, name)) {
    masks[subject].push_back({path, std::move(name)});
  }
}

MasksBySubject masks_below(const fs::path& derivatives) {
  MasksBySubject masks;
  std::error_code error;
  fs::recursive_directory_iterator entry(derivatives, fs::directory_options::skip_permission_denied,
                                         error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    collect_masks(entry->path(), masks);
  }
  for (auto& [subject, found] : masks) {
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
  }
  return masks;
}

/// Number of entities and words a mask's name shares with a scan's; -1 if they contradict.
int fit_of(const BidsName& mask, const BidsName& scan) {
  static const std::set<std::string> kNative = {"orig", "native", "individual", "scanner"};
  int common = 0;
  for (const auto& [key, value] : mask.entities) {
    const auto own = scan.entity(key);
    if (own == value) {
      ++common;
    } else if (!own.empty()) {
      return -1;
    } else if (key == "space" && !kNative.contains(value) && value != scan.suffix()) {
      return -1;
    }
  }
  if (std::find(mask.words.begin(), mask.words.end(), scan.suffix()) != mask.words.end()) ++common;
  return common;
}

std::string acquisition_of(const BidsName& scan) {
  static const std::map<std::string, std::string> kKnown = {
      {"spc3p2", "space_2x"}, {"spc3", "space_no_accel"}, {"tse3", "turbo_spin_echo"}};
  const auto name = scan.entity("acq");
  if (name.empty()) return "unknown";
  const auto known = kKnown.find(name);
  return known == kKnown.end() ? name : known->second;
}

/// The scan of one session and its mask, if the session has one of the wanted suffix.
std::optional<Subject> subject_of(const fs::path& session, const std::string& id,
                                  const MasksBySubject& derived, const BidsOptions& options) {
  MasksBySubject beside;
  std::vector<fs::path> candidates;
  for (const auto& path : scans_in(session / "anat")) {
    if (BidsName(path).suffix() == options.suffix) candidates.push_back(path);
    collect_masks(path, beside);
  }
  if (candidates.empty()) return std::nullopt;
  Subject subject;
  subject.id = id;
  subject.image = candidates.front();
  int best = -1;
  for (const auto& path : candidates) {
    const BidsName scan(path);
    for (const auto* masks : std::array<const MasksBySubject*, 2>{&derived, &beside}) {
      const auto own = masks->find(scan.entity("sub"));
      if (own == masks->end()) continue;
      for (const auto& mask : own->second) {
        const int fit = fit_of(mask.name, scan);
        if (fit <= best) continue;
        best = fit;
        subject.image = path;
        subject.mask = mask.path;
      }
    }
  }
  subject.acquisition = acquisition_of(BidsName(subject.image));
  if (candidates.size() > 1) {
    log::debug("[data.bids] {} has {} scans; took {}.", id, candidates.size(),
               subject.image.filename().string());
  }
  return subject;
}

}  // namespace

bool looks_like_bids(const fs::path& folder) { return !folders_named(folder, "sub-").empty(); }

Cohort scan_bids(const fs::path& folder, const BidsOptions& options) {
  Cohort cohort;
  cohort.root = fs::absolute(folder).lexically_normal();
  cohort.source = "bids";
  const auto people = folders_named(folder, "sub-");
  check(!people.empty(), ErrorKind::Input,
        "[data.bids] {} has no folder sub-*; expected a BIDS study.", folder.string());
  const auto masks = masks_below(folder / "derivatives");
  for (const auto& person : people) {
    const auto name = person.filename().string();
    if (auto found = subject_of(person, name, masks, options)) {
      cohort.subjects.push_back(std::move(*found));
    }
    for (const auto& session : folders_named(person, "ses-")) {
      const auto id = name + "_" + session.filename().string();
      if (auto found = subject_of(session, id, masks, options)) {
        cohort.subjects.push_back(std::move(*found));
      }
    }
  }
  check(!cohort.subjects.empty(), ErrorKind::Input,
        "[data.bids] none of the {} subjects in {} has a scan; expected "
        "sub-*/[ses-*/]anat/*_{}.nii or .nii.gz. Name another suffix if the study has one.",
        people.size(), folder.string(), options.suffix);
  return cohort;
}

}  // namespace ubique::data
