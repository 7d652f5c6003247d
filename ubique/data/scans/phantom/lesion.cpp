// SPDX-License-Identifier: Apache-2.0
// Draws the number, size, position and shape of lesions.
#include "ubique/data/scans/phantom/lesion.h"

#include <algorithm>

namespace ubique::data {
namespace {

/// A point in brain tissue, neither at the surface nor far below it, on the given side.
Point lesion_centre(Draws& draws, const Head& head, double radius, bool left) {
  const Point fallback = head.centre() + Point{left ? -38.0 : 38.0, 0, 8};
  for (int attempt = 0; attempt < 300; ++attempt) {
    const Point unit = draws.within(1);
    const Point p = head.centre() + Point{unit.x * head.extent().x, unit.y * head.extent().y,
                                          unit.z * head.extent().z};
    if ((p.x < 0) != left) continue;
    const double depth = head.depth(p);
    const bool deep_enough = depth > std::max(4.0, 0.55 * radius) && depth < 12 + radius;
    if (deep_enough && head.at(p).is_brain) return p;
  }
  return fallback;
}

/// Between low and low * 2^octaves: a random octave, then uniform within it.
double by_octaves(Draws& draws, double low, std::int64_t octaves) {
  for (auto left = draws.below(octaves); left > 0; --left) low *= 2;
  return low * draws.between(1, 2);
}

}  // namespace

Lesion::Lesion(const Random& random, const Point& centre, double radius)
    : centre_(centre), radius_(radius), shape_(random.fork(1), std::max(7.0, 1.1 * radius)) {
  Draws draws(random.fork(0));
  rotation_ = Rotation::any(draws);
  axes_ = Point{1, 1, 1} + draws.within(0.25);
  border_ = std::max(3.0, 0.2 * radius);
  roughness_ = draws.between(0.25, 0.45);
  brightness_ = draws.between(0.55, 1);
}

double Lesion::share(const Point& p) const {
  const Point q = p - centre_;
  if (q.dot(q) > 4 * radius_ * radius_ + 4 * border_ * border_) return 0;
  const double distance = (rotation_(q) / axes_).length();
  const double rough = shape_.at(p) + 0.5 * shape_.at(p * 2.3);
  const double outline = radius_ * (1 + roughness_ * rough);
  return smooth_step(-border_ / 2, border_ / 2, outline - distance);
}

std::vector<Lesion> make_lesions(const Random& random, const Head& head) {
  Draws draws(random.fork(0));
  const bool left = draws.chance(0.75);
  const auto count = 1 + draws.below(5);
  std::vector<Lesion> lesions;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool large = draws.chance(0.5);
    double radius = by_octaves(draws, 4, 2);
    if (i == 0) radius = large ? draws.between(24, 36) : draws.between(16, 24);
    const auto centre = lesion_centre(draws, head, radius, draws.chance(0.85) ? left : !left);
    lesions.emplace_back(random.fork(static_cast<std::uint64_t>(i) + 1), centre, radius);
  }
  return lesions;
}

}  // namespace ubique::data
