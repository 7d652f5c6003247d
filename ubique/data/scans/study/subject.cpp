// SPDX-License-Identifier: Apache-2.0
// Counts lesion voxels and checks for masks.
#include "ubique/data/scans/study/subject.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/data/scans/study/npz_sample.h"

namespace ubique::data {
namespace {

std::int64_t lesion_voxels_in(const std::filesystem::path& mask) {
  const auto is_lesion = [](auto value) { return value > 0; };
  if (!is_npz_name(mask)) return std::ranges::count_if(read_scan(mask).volume.values, is_lesion);
  const auto sample = read_npz_sample(mask);
  check(sample.mask.has_value(), ErrorKind::Input,
        "[data.npz] {} has no array 'mask'; expected one, to learn from or to score with.",
        mask.string());
  return std::ranges::count_if(sample.mask->values, is_lesion);
}

}  // namespace

std::vector<UnusableSubject> measure_lesions(Cohort& cohort) {
  std::vector<UnusableSubject> unusable;
  for (auto& subject : cohort.subjects) {
    if (subject.lesion_voxels >= 0 || !subject.mask) continue;
    try {
      subject.lesion_voxels = lesion_voxels_in(*subject.mask);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) throw;
      unusable.push_back({subject.id, error.what()});
    }
  }
  return unusable;
}

void refuse_unusable(const std::vector<UnusableSubject>& unusable, std::size_t total) {
  if (unusable.empty()) return;
  std::vector<std::string> names;
  for (const auto& subject : unusable) {
    log::error("{}", subject.error);
    names.push_back(subject.id);
  }
  fail(ErrorKind::Input,
       "[data.study] {} of {} scans cannot be used: {}; expected every one to be. Repair them or "
       "take them out of the study.",
       names.size(), total, first_few(names));
}

void require_masks(const Cohort& cohort) {
  std::vector<std::string> without;
  for (const auto& subject : cohort.subjects) {
    if (!subject.mask) without.push_back(subject.id);
  }
  check(without.empty(), ErrorKind::Input,
        "[data.cohort] {} of {} subjects in {} have no mask: {}; expected one for each. Add the "
        "masks or take these scans out.",
        without.size(), cohort.subjects.size(), cohort.root.string(), first_few(without));
}

std::string first_few(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) return join(names, ", ");
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(most));
  return fmt::format("{} and {} more", join(first, ", "), names.size() - most);
}

}  // namespace ubique::data
