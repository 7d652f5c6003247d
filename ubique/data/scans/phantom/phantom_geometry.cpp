// SPDX-License-Identifier: Apache-2.0
// Rotations from quaternions, ellipsoid distances, gradient noise. Compiled with -ffp-contract=off,
// like the whole room, so that the bits are the same on every processor.
#include "ubique/data/scans/phantom/phantom_geometry.h"

#include <algorithm>

namespace ubique::data {
namespace {

constexpr std::int64_t kPeriod = 16;  // a power of two

/// A unit vector, uniform over directions.
Point any_direction(const Random& random, std::uint64_t index) {
  const Point p{random.normal(3 * index), random.normal(3 * index + 1),
                random.normal(3 * index + 2)};
  const double length = p.length();
  return length > 0 ? p * (1 / length) : Point{1, 0, 0};
}

double fade(double t) { return t * t * t * (t * (t * 6 - 15) + 10); }
double mix(double a, double b, double share) { return a + share * (b - a); }

}  // namespace

// The matrix of the unit quaternion (1, axis) / length.
Rotation::Rotation(const Point& axis) {
  const double norm = 1 / (1 + axis.dot(axis));
  const auto& [x, y, z] = axis;
  rows_[0] = Point{1 + x * x - y * y - z * z, 2 * (x * y - z), 2 * (x * z + y)} * norm;
  rows_[1] = Point{2 * (x * y + z), 1 - x * x + y * y - z * z, 2 * (y * z - x)} * norm;
  rows_[2] = Point{2 * (x * z - y), 2 * (y * z + x), 1 - x * x - y * y + z * z} * norm;
}

Rotation Rotation::any(Draws& draws) {
  Point axis = draws.within(1);
  while (axis.dot(axis) > 1) axis = draws.within(1);
  return Rotation(axis * 4);
}

Point Ellipsoid::scaled(const Point& p) const {
  Point q = p - centre_;
  q.z = q.z - tilt_ * q.y;
  return q * inverse_;
}

bool Ellipsoid::contains(const Point& p) const {
  const Point q = scaled(p);
  return q.dot(q) < 1;
}

double Ellipsoid::distance(const Point& p) const {
  const Point q = scaled(p);
  const double radius = q.length();
  const double slope = (q * inverse_).length();
  if (!(slope > 0)) return -std::min({semi_.x, semi_.y, semi_.z});
  return radius * (radius - 1) / slope;
}

double smooth_step(double from, double to, double x) {
  const double t = std::clamp((x - from) / (to - from), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

NoiseField::NoiseField(const Random& random, double wavelength) : frequency_(1 / wavelength) {
  Draws draws(random.fork(0));
  rotation_ = Rotation::any(draws);
  const auto directions = random.fork(1);
  gradients_.resize(kPeriod * kPeriod * kPeriod);
  for (std::size_t i = 0; i < gradients_.size(); ++i) gradients_[i] = any_direction(directions, i);
}

double NoiseField::corner(std::int64_t i, std::int64_t j, std::int64_t k,
                          const Point& offset) const {
  constexpr std::int64_t kMask = kPeriod - 1;
  const auto index = ((i & kMask) * kPeriod + (j & kMask)) * kPeriod + (k & kMask);
  return gradients_[static_cast<std::size_t>(index)].dot(offset);
}

double NoiseField::at(const Point& p) const {
  const Point u = rotation_(p) * frequency_;
  const Point floor{std::floor(u.x), std::floor(u.y), std::floor(u.z)};
  const auto i = static_cast<std::int64_t>(floor.x), j = static_cast<std::int64_t>(floor.y),
             k = static_cast<std::int64_t>(floor.z);
  const Point f = u - floor;
  const double x = fade(f.x), y = fade(f.y), z = fade(f.z);
  const auto edge = [&](std::int64_t dj, std::int64_t dk) {
    const double fy = f.y - static_cast<double>(dj), fz = f.z - static_cast<double>(dk);
    return mix(corner(i, j + dj, k + dk, {f.x, fy, fz}),
               corner(i + 1, j + dj, k + dk, {f.x - 1, fy, fz}), x);
  };
  constexpr double kScale = 1.5;  // brings the usual extremes near 1
  return kScale * mix(mix(edge(0, 0), edge(1, 0), y), mix(edge(0, 1), edge(1, 1), y), z);
}

}  // namespace ubique::data
