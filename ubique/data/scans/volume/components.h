// SPDX-License-Identifier: Apache-2.0
// Connected components of label maps: which islands of a segmentation are kept.
#pragma once

#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

struct ComponentPolicy {
  enum class Kind { None, Largest, MinSize } kind = Kind::None;
  double min_mm3 = 0;  ///< MinSize: smaller islands go
};

/// "none", "largest", "min-size:50" (mm³); Usage error otherwise.
ComponentPolicy parse_component_policy(std::string_view text);
std::string to_string(const ComponentPolicy& policy);

/// In place; 26 neighbours, all non-zero labels taken together (as BrainChop does). Returns the
/// number of islands removed.
std::int64_t keep_components(LabelMap& labels, const ComponentPolicy& policy);

/// Number of islands of non-zero voxels.
std::int64_t count_components(const LabelMap& labels);

}  // namespace ubique::data
