// SPDX-License-Identifier: Apache-2.0
// Pictures of a segmentation: the scan in three planes with the labels in colour on top.
#pragma once

#include <array>
#include <vector>

#include "ubique/data/scans/volume/volume.h"
#include "ubique/io/images/png.h"
#include "ubique/models/meshnet/net/config.h"

namespace ubique::meshnet {

struct OverlayOptions {
  std::vector<Label> labels;  ///< colours by class; empty = a palette of our own
  double alpha = 0.5;         ///< opacity of the colours
  bool outline = false;       ///< only the border of each region
};

/// Axial, coronal and sagittal slices side by side through the labels' centre of mass (the middle
/// of the volume if there are none), in radiological view: the patient's left is on the right,
/// the front and the top point up. Pixels are square in millimetres whatever the spacing. Both
/// volumes are on the same grid; `truth`, if given, adds a second row with it.
io::Picture draw_overlay(const data::Volume& scan, const data::LabelMap& labels,
                         const OverlayOptions& options, const data::LabelMap* truth = nullptr);

/// The colour of a class where a model names none: distinct, the same for everyone.
std::array<std::uint8_t, 3> palette_colour(std::int64_t label);

}  // namespace ubique::meshnet
