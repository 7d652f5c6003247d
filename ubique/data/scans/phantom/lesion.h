// SPDX-License-Identifier: Apache-2.0
// Synthetic lesions: irregular blobs of mixed size in brain tissue, with soft borders.
#pragma once

#include <vector>

#include "ubique/data/scans/phantom/phantom_anatomy.h"

namespace ubique::data {

class Lesion {
 public:
  Lesion(const Random& random, const Point& centre, double radius);

  /// Fraction of tissue replaced by lesion: 0 outside, 1 in the core, 0.5 on the outline.
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

/// One to five lesions. The first is the largest: a radius of 16 to 24 mm in half of the heads, 24
/// to 36 mm in the others; further ones have 4 to 16 mm, each octave equally likely. Most are in
/// one hemisphere, which is the left one in three of four heads, as in strokes with aphasia.
std::vector<Lesion> make_lesions(const Random& random, const Head& head);

}  // namespace ubique::data
