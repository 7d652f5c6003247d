// SPDX-License-Identifier: Apache-2.0
// Pictures of a segmentation: the scan in three planes with the labels in colour.
#pragma once

#include <vector>

#include "ubique/data/scans/volume/volume.h"
#include "ubique/io/images/png.h"
#include "ubique/models/meshnet/net/labels.h"

namespace ubique::meshnet {

struct OverlayOptions {
  std::vector<Label> labels;  ///< colours by class; empty = the default palette
  double alpha = 0.5;         ///< opacity of the colours
  bool outline = false;       ///< only the border of each region
};

/// Axial, coronal and sagittal slices side by side, each the one with the most labelled voxels (the
/// middle one if there are none), in radiological view: the patient's left is on the right, the
/// front and the top point up. Pixels are square in millimetres whatever the spacing. Both volumes
/// are on the same grid; `truth`, if given, adds a second row with its labels.
io::Picture draw_overlay(const data::Volume& scan, const data::LabelMap& labels,
                         const OverlayOptions& options, const data::LabelMap* truth = nullptr);

}  // namespace ubique::meshnet
