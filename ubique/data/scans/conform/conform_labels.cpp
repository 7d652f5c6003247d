// SPDX-License-Identifier: Apache-2.0
// Class by class, because conform_mask() knows one mask at a time.
#include "ubique/data/scans/conform/conform_labels.h"

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

void check_labels(const Scan& labels, std::int64_t classes) {
  const auto& values = labels.volume.values;
  const auto stray = std::find_if(values.begin(), values.end(), [&](float value) {
    return value < 0 || value >= static_cast<float>(classes) ||
           value != static_cast<float>(static_cast<int>(value));
  });
  check(stray == values.end(), ErrorKind::Input,
        "[data.scans] {} has the label {}; expected whole numbers from 0 to {}. Is the number of "
        "classes right?",
        labels.name, stray == values.end() ? 0 : *stray, classes - 1);
}

}  // namespace

LabelMap conform_labels(const Scan& labels, const Scan& image, const ConformTarget& target,
                        std::int64_t classes, int threads) {
  if (classes == 2) return conform_mask(labels, image, target, threads);
  check_labels(labels, classes);
  LabelMap result;
  for (std::int64_t label = 1; label < classes; ++label) {
    auto one = labels;
    for (auto& value : one.volume.values) value = value == static_cast<float>(label) ? 1 : 0;
    auto part = conform_mask(one, image, target, threads);
    if (label == 1) {
      result = std::move(part);
      continue;
    }
    for (std::size_t i = 0; i < part.values.size(); ++i) {
      if (part.values[i] != 0) result.values[i] = static_cast<std::uint8_t>(label);
    }
  }
  return result;
}

}  // namespace ubique::data
