// SPDX-License-Identifier: Apache-2.0
// Points, rotations, ellipsoids and gradient noise in 3D. Uses only + - * / sqrt and floor, so that
// the bits are the same on every machine.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ubique/base/numbers/random.h"

namespace ubique::data {

/// Millimetres: x right, y anterior, z superior.
struct Point {
  double x = 0, y = 0, z = 0;

  Point operator+(const Point& b) const { return {x + b.x, y + b.y, z + b.z}; }
  Point operator-(const Point& b) const { return {x - b.x, y - b.y, z - b.z}; }
  Point operator*(double factor) const { return {x * factor, y * factor, z * factor}; }
  Point operator*(const Point& b) const { return {x * b.x, y * b.y, z * b.z}; }
  Point operator/(const Point& b) const { return {x / b.x, y / b.y, z / b.z}; }
  double dot(const Point& b) const { return x * b.x + y * b.y + z * b.z; }
  double length() const { return std::sqrt(dot(*this)); }
};

/// Sequential draws from a stream: values 0, 1, 2 ...
class Draws {
 public:
  explicit Draws(const Random& random) : random_(random) {}

  double between(double low, double high) { return low + (high - low) * random_.uniform(next_++); }
  /// Between 1 - share and 1 + share: around(0.1) is 0.9 to 1.1.
  double around(double share) { return between(1 - share, 1 + share); }
  bool chance(double probability) { return random_.bernoulli(next_++, probability); }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_.below(next_++, static_cast<std::uint64_t>(bound)));
  }
  Point within(double extent) {
    const double x = between(-extent, extent), y = between(-extent, extent);
    return {x, y, between(-extent, extent)};
  }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

class Rotation {
 public:
  Rotation() = default;  ///< none
  /// About the direction of `axis` by twice the angle whose tangent is its length.
  explicit Rotation(const Point& axis);
  static Rotation any(Draws& draws);  ///< uniform over directions

  Point operator()(const Point& p) const {
    return {rows_[0].dot(p), rows_[1].dot(p), rows_[2].dot(p)};
  }

 private:
  std::array<Point, 3> rows_ = {Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}};
};

class Ellipsoid {
 public:
  Ellipsoid() = default;
  /// `semi`: the semi-axes. `tilt`: shear, rise in z per y.
  Ellipsoid(const Point& centre, const Point& semi, double tilt = 0)
      : centre_(centre), semi_(semi), inverse_(Point{1, 1, 1} / semi), tilt_(tilt) {}

  const Point& centre() const { return centre_; }
  const Point& semi() const { return semi_; }

  bool contains(const Point& p) const;
  /// Below 0 inside; near the surface about the distance to it in millimetres.
  double distance(const Point& p) const;

 private:
  Point scaled(const Point& p) const;  // length 1 on the surface

  Point centre_, semi_{1, 1, 1}, inverse_{1, 1, 1};
  double tilt_ = 0;
};

/// 0 up to `from`, 1 from `to` on, smooth between.
double smooth_step(double from, double to, double x);

/// Gradient (Perlin) noise: smooth, about -1 to 1, mean 0, bumps about one wavelength (mm) apart,
/// on a randomly rotated lattice. Repeats after 16 wavelengths.
class NoiseField {
 public:
  NoiseField(const Random& random, double wavelength);
  double at(const Point& p) const;

 private:
  double corner(std::int64_t i, std::int64_t j, std::int64_t k, const Point& offset) const;

  std::vector<Point> gradients_;
  Rotation rotation_;
  double frequency_;
};

}  // namespace ubique::data
