// SPDX-License-Identifier: Apache-2.0
// Connected components of label maps: which ones a segmentation keeps.
#pragma once

#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

struct ComponentPolicy {
  enum class Kind { None, Largest, MinSize } kind = Kind::None;
  double min_mm3 = 0;  ///< MinSize: smaller components are removed
};

/// "none", "largest", "min-size:50" (mm³); Usage error otherwise.
ComponentPolicy parse_component_policy(std::string_view text);
std::string to_string(const ComponentPolicy& policy);

/// In place; 26-connected, all non-zero labels taken together (as in BrainChop). Returns the number
/// of components removed.
std::int64_t keep_components(LabelMap& labels, const ComponentPolicy& policy);

/// Number of connected components of non-zero voxels.
std::int64_t count_components(const LabelMap& labels);

}  // namespace ubique::data
