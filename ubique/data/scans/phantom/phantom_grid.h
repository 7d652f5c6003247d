// SPDX-License-Identifier: Apache-2.0
// Scan protocols, and the voxel grid of a simulated acquisition.
#pragma once

#include <array>
#include <string>

#include "ubique/data/scans/phantom/phantom.h"
#include "ubique/data/scans/phantom/phantom_geometry.h"

namespace ubique::data {

/// The voxel grid, and its position relative to the head.
struct ScanGrid {
  Shape3 shape{};
  Affine affine{};
  Point origin;               ///< of voxel (0, 0, 0) in the head's coordinates
  std::array<Point, 3> step;  ///< one voxel along each axis in the head's coordinates

  Point at(double i, double j, double k) const {
    return origin + step[0] * i + step[1] * j + step[2] * k;
  }
};

/// One of two protocols, drawn at random; the second has thicker slices and less noise.
struct Protocol {
  std::string acquisition;
  double noise;  ///< standard deviation, where fluid is 900
  bool thick_slices;
};
Protocol choose_protocol(const Random& random);

ScanGrid make_grid(const PhantomOptions& options, const Protocol& protocol, const Random& random);

}  // namespace ubique::data
