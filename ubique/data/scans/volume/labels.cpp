// SPDX-License-Identifier: Apache-2.0
// Label maps read from files, where they may be stored as any type of number.
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

LabelMap to_labels(const Volume& volume) {
  LabelMap labels{volume.shape, volume.affine, {}};
  labels.values.reserve(volume.values.size());
  for (const float value : volume.values) {
    check(value >= 0 && value <= 255 && std::floor(value) == value, ErrorKind::Input,
          "[data.scans] a voxel that is no label; got {}, expected a whole number from 0 to 255.",
          value);
    labels.values.push_back(static_cast<std::uint8_t>(value));
  }
  return labels;
}

}  // namespace ubique::data
