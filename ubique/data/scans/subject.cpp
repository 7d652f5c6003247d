// SPDX-License-Identifier: Apache-2.0
#include "ubique/data/scans/subject.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text.h"
#include "ubique/data/scans/volume.h"

namespace ubique::data {

void measure_lesions(Cohort& cohort) {
  for (auto& subject : cohort.subjects) {
    if (subject.lesion_voxels >= 0 || !subject.mask) continue;
    const auto values = read_scan(*subject.mask).volume.values;
    subject.lesion_voxels =
        std::count_if(values.begin(), values.end(), [](float value) { return value > 0; });
  }
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
