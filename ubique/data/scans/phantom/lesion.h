// SPDX-License-Identifier: Apache-2.0
// Made-up lesions: irregular blobs of mixed size in the tissue of a head, with soft borders.
#pragma once

#include <vector>

#include "ubique/data/scans/phantom/phantom_anatomy.h"

namespace ubique::data {

class Lesion {
 public:
  Lesion(const Random& random, const Point& centre, double radius);

  /// How much of the tissue is gone: 0 outside, 1 in the core, 0.5 on the outline.
  double share(const Point& p) const;
  double brightness() const { return brightness_; }  ///< 0 (like tissue) to 1 (like fluid)
  double radius() const { return radius_; }
  const Point& centre() const { return centre_; }

 private:
  Point centre_, axes_;
  double radius_, border_, roughness_, brightness_;
  Rotation rotation_;
  NoiseField shape_;
};

/// One to five of them, the first being the largest: a radius of 16 to 24 mm in half of the heads
/// and 24 to 36 mm in the others; further ones of 4 to 16 mm, every octave alike. Three quarters
/// are in the left half, as strokes with aphasia are.
std::vector<Lesion> make_lesions(const Random& random, const Head& head);

}  // namespace ubique::data
