// SPDX-License-Identifier: Apache-2.0
// Builds a head from ellipsoids and noise. Sizes are those of an adult head, in millimetres, each
// varied by a few per cent.
#include "ubique/data/scans/phantom/phantom_anatomy.h"

#include <algorithm>
#include <cmath>

namespace ubique::data {
namespace {

Ellipsoid varied(Draws& draws, Point centre, Point semi, double tilt = 0) {
  const double size = draws.around(0.06);
  centre = centre + draws.within(1);
  return {centre, Point{semi.x, semi.y * draws.around(0.04), semi.z} * size, tilt};
}

/// A left and a right part, each varied on its own.
void add_pair(std::vector<Ellipsoid>& parts, Draws& draws, const Point& centre, const Point& semi,
              double tilt = 0) {
  parts.push_back(varied(draws, centre, semi, tilt));
  parts.push_back(varied(draws, {-centre.x, centre.y, centre.z}, semi, tilt));
}

bool any_contains(const std::vector<Ellipsoid>& parts, const Point& p) {
  return std::ranges::any_of(parts, [&](const auto& part) { return part.contains(p); });
}

/// Cuts the cerebrum off at a flat base above the cerebellum.
double with_flat_base(double distance, const Point& p) {
  return std::max(distance, -34 + 0.2 * std::max(0.0, p.y) - p.z);
}

/// Smooth minimum of two distances: fills the groove between two surfaces over `width` mm.
double blended(double a, double b, double width) {
  const double h = std::max(width - std::fabs(a - b), 0.0) / width;
  return std::min(a, b) - h * h * width / 4;
}

/// Distance in millimetres to the pattern's zero crossing. Where the slope is small the pattern is
/// merely flat and there is no fold, so the distance is increased.
double to_fold(const NoiseField& pattern, const Point& p, double value, double usual_slope) {
  constexpr double kStep = 2;
  const double x = pattern.at(p + Point{kStep, 0, 0}) - value;
  const double y = pattern.at(p + Point{0, kStep, 0}) - value;
  const double z = pattern.at(p + Point{0, 0, kStep}) - value;
  const double slope = std::sqrt(x * x + y * y + z * z) / kStep;
  const double flat = std::max(0.0, 1 - slope / usual_slope);
  return std::fabs(value) / usual_slope + 6 * flat * flat;
}

enum Stream : std::uint64_t { kShape, kBumps, kGyri, kSmallGyri, kFolia };

}  // namespace

Head::Head(const Random& random)
    : bumps_(random.fork(kBumps), 45),
      gyri_(random.fork(kGyri), 26),
      small_gyri_(random.fork(kSmallGyri), 15),
      folia_(random.fork(kFolia), 7) {
  Draws draws(random.fork(kShape));
  cerebrum_ = varied(draws, {0, 0, 13}, {63, 77, 57});
  cerebellum_ = varied(draws, {0, -40, -38}, {46, 31, 23});
  stem_ = varied(draws, {0, -18, -48}, {12, 13, 42}, -0.15);
  canal_ = Ellipsoid({0, -26, -95}, {11, 12, 60});
  face_ = varied(draws, {0, 44, -58}, {46, 44, 56});
  neck_ = varied(draws, {0, -20, -108}, {52, 58, 80});
  const double age = draws.between(0.75, 1.45);  // wider ventricles and sulci
  add_pair(ventricles_, draws, {9 + 2 * age, -2, 24}, {4.5 * age, 28, 6 * age}, -0.1);
  add_pair(ventricles_, draws, {11 + 2 * age, 22, 20}, {4 * age, 10, 7 * age});
  add_pair(ventricles_, draws, {19, -34, 17}, {5 * age, 16, 7 * age}, -0.2);
  add_pair(ventricles_, draws, {29, -14, -8}, {3 * age, 15, 3 * age}, 0.3);
  ventricles_.push_back(varied(draws, {0, -4, 6}, {2 * age, 13, 9}));
  ventricles_.push_back(varied(draws, {0, -31, -36}, {5 * age, 5, 8}));
  add_pair(fissures_, draws, {47, 8, 2}, {17, 24, 1.6 * age}, 0.25);
  add_pair(deep_grey_, draws, {11, -12, 10}, {8, 14, 9});
  add_pair(deep_grey_, draws, {25, 4, 6}, {6, 16, 10});
  add_pair(deep_grey_, draws, {16, 16, 16}, {4, 11, 8}, 0.2);
  add_pair(eyes_, draws, {31, 66, -37}, {12, 12, 12});
  add_pair(sinuses_, draws, {21, 62, -64}, {11, 13, 12});
  sinuses_.push_back(varied(draws, {0, 62, -46}, {8, 18, 10}));
  fluid_gap_ = draws.between(2.2, 3.2) + 1.2 * age;
  bone_ = draws.between(5.5, 8);
  scalp_ = draws.between(5, 7.5);
  sulcus_ = 0.75 * age;
  cortex_ = draws.between(2.8, 3.4);
}

double Head::depth(const Point& p) const {
  return -with_flat_base(cerebrum_.distance(p), p) - 2 * bumps_.at(p);
}

double Head::outline(const Point& p) const {
  const double cranium =
      blended(cerebrum_.distance(p), cerebellum_.distance(p), 20) - fluid_gap_ - bone_ - scalp_;
  return blended(cranium, std::min(face_.distance(p), neck_.distance(p)), 14);
}

bool Head::is_outside(const Point& p, double margin) const { return outline(p) > margin; }

Head::PointInfo Head::in_skull_or_skin(const Point& p, double depth_of_bone) const {
  if (any_contains(eyes_, p)) return {Material::Vitreous, false};
  if (depth_of_bone > 0) {
    const bool middle = std::fabs(depth_of_bone - bone_ / 2) < bone_ / 6;  // bone, marrow, bone
    return {middle ? Material::Marrow : Material::Bone, false};
  }
  const double to_skin = -outline(p);
  if (to_skin < 0 || any_contains(sinuses_, p)) return {Material::Air, false};
  const double under_skin = to_skin + 1.5 * bumps_.at(p * 2);
  if (under_skin < 1.2) return {Material::Muscle, false};  // the skin itself
  const bool fat = under_skin < 5 || folia_.at(p * 0.4) > 0.45;
  return {fat ? Material::Fat : Material::Muscle, false};
}

/// Sulci are sheets that run straight down from the surface: the folds depend on the surface point
/// above, and hardly on the depth.
Material Head::in_mantle(const Point& p, double depth) const {
  constexpr double kDeepest = 24;
  if (depth > kDeepest) return Material::White;
  const Point q = p - cerebrum_.centre();
  const double radius = std::max((q / cerebrum_.semi()).length(), 0.2);
  const Point above = q * (1 / radius) + q * 0.12;
  const double wide = gyri_.at(above), narrow = small_gyri_.at(above);
  const auto to_bottom = [&](double across, double bottom) {
    const double past = std::max(0.0, depth - bottom);
    return std::sqrt(across * across + past * past);
  };
  const double bottom = 14 + 6 * bumps_.at(p * 1.3);
  double to_sulcus =
      std::min(to_bottom(std::fabs(wide) * 15, bottom), to_bottom(std::fabs(narrow) * 9 + 1, 7));
  if (to_sulcus > sulcus_ + cortex_ && depth > cortex_) return Material::White;
  if (to_sulcus < sulcus_) {  // recomputed with the slope, which costs more
    to_sulcus = std::min(to_bottom(to_fold(gyri_, above, wide, 1.0 / 15), bottom),
                         to_bottom(to_fold(small_gyri_, above, narrow, 1.0 / 9) + 1, 7));
  }
  return to_sulcus < sulcus_ ? Material::Fluid : Material::Grey;
}

Head::PointInfo Head::in_cerebrum(const Point& p, double depth) const {
  if (any_contains(deep_grey_, p)) return {Material::Grey, true};
  // The fissure between the hemispheres ends at the corpus callosum.
  const double callosum = 31 - p.y * p.y / 130;
  const double half = std::fabs(p.x + 1.5 * bumps_.at(p));
  double fold = std::sqrt(half * half + smooth_step(0, 1, callosum - p.z) * 900) - 1.1 * sulcus_;
  for (const auto& fissure : fissures_) fold = std::min(fold, fissure.distance(p));
  if (fold < 0) return {Material::Fluid, true};
  if (fold < cortex_) return {Material::Grey, true};
  return {in_mantle(p, depth), true};
}

Material Head::in_cerebellum(const Point& p, double depth) const {
  if (depth > 9) return Material::White;
  // Folia are stacked along z.
  const double leaf = folia_.at({p.x * 0.35, p.y * 0.5, p.z * 1.6});
  return leaf > 0.55 ? Material::Fluid : leaf < -0.45 ? Material::White : Material::Grey;
}

Head::PointInfo Head::at(const Point& p) const {
  const double cerebrum = with_flat_base(cerebrum_.distance(p), p);
  const double cerebellum = cerebellum_.distance(p), canal = canal_.distance(p);
  const double cavity = blended(cerebrum, cerebellum, 16) - fluid_gap_;
  if (cavity > 0 && canal > 0) return in_skull_or_skin(p, bone_ - std::min(cavity, canal - 2));
  if (any_contains(ventricles_, p)) return {Material::Fluid, false};
  if (p.z < 0 && stem_.contains(p)) return {Material::Stem, true};
  if (p.z < -60 && canal < -5.5) return {Material::Stem, false};  // spinal cord
  const double bump = bumps_.at(p);
  if (cerebrum + 2 * bump < 0) return in_cerebrum(p, -cerebrum - 2 * bump);
  if (cerebellum + bump < 0) return {in_cerebellum(p, -cerebellum - bump), true};
  return {Material::Fluid, false};
}

}  // namespace ubique::data
