// SPDX-License-Identifier: Apache-2.0
// Anatomy of a synthetic head: scalp, skull, fluid, folded cortex, white matter, ventricles, deep
// grey matter, cerebellum, brainstem, eyes. Geometry only; phantom_scanner.h gives it intensities.
#pragma once

#include <cstdint>
#include <vector>

#include "ubique/data/scans/phantom/phantom_geometry.h"

namespace ubique::data {

/// Materials with an intensity of their own.
enum class Material : std::uint8_t {
  Air,
  Fat,
  Muscle,
  Bone,
  Marrow,
  Fluid,
  Grey,
  White,
  Stem,
  Vitreous
};
inline constexpr std::size_t kMaterials = 10;

/// One head, the same for the same stream. In head coordinates the centre of the cerebrum is near
/// (0, 0, 13).
class Head {
 public:
  explicit Head(const Random& random);

  struct PointInfo {
    Material material = Material::Air;
    bool is_brain = false;  ///< where a lesion may be: tissue and sulci, not ventricles
  };
  PointInfo at(const Point& p) const;

  /// True if everything within `margin` millimetres is air.
  bool is_outside(const Point& p, double margin) const;
  /// Depth below the surface of the cerebrum; negative outside.
  double depth(const Point& p) const;
  const Point& centre() const { return cerebrum_.centre(); }
  const Point& extent() const { return cerebrum_.semi(); }

 private:
  double outline(const Point& p) const;  // signed distance to the skin; below 0 inside
  PointInfo in_skull_or_skin(const Point& p, double depth_of_bone) const;
  PointInfo in_cerebrum(const Point& p, double depth) const;
  Material in_mantle(const Point& p, double depth) const;
  Material in_cerebellum(const Point& p, double depth) const;

  Ellipsoid cerebrum_, cerebellum_, stem_, canal_, face_, neck_;
  std::vector<Ellipsoid> ventricles_, fissures_, deep_grey_, eyes_, sinuses_;
  NoiseField bumps_, gyri_, small_gyri_, folia_;
  double fluid_gap_, bone_, scalp_, sulcus_, cortex_;
};

}  // namespace ubique::data
