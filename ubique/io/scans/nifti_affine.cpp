// SPDX-License-Identifier: Apache-2.0
// Affines from sform, qform or spacing; quaternions and their checks.
#include "ubique/io/scans/nifti_affine.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ubique/base/error.h"

namespace ubique::io {
namespace {

using Matrix3 = std::array<std::array<double, 3>, 3>;

constexpr double kShortestVoxel = 1e-6, kLongestVoxel = 1e6;  // mm; no scanner gets near these
constexpr double kFarthestVoxel = 1e9;                        // mm from the origin
constexpr double kFlatSpace = 1e-6;   // least volume spanned by the three axes' directions
constexpr double kRightAngle = 1e-4;  // largest cosine between perpendicular axes
constexpr std::int64_t kLastFormCode = 5;

double millimetres_per_unit(std::int64_t units) {
  constexpr std::int64_t kSpaceBits = 7, kMetre = 1, kMicrometre = 3;
  const auto space = units & kSpaceBits;
  return space == kMetre ? 1e3 : space == kMicrometre ? 1e-3 : 1;
}

/// Unknown codes count as "none", as nibabel has it.
int form_code(std::int64_t code) {
  return code >= 0 && code <= kLastFormCode ? static_cast<int>(code) : 0;
}

/// Voxel sizes in the file's unit. The sign of a negative one is ignored; an axis beyond dim[0] may
/// be 0.
std::array<double, 3> voxel_sizes(const NiftiFields& fields, double unit, const std::string& name) {
  std::array<double, 3> sizes{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto& size = sizes[axis];
    size = std::abs(fields.pixdim[axis + 1]);
    if (static_cast<std::int64_t>(axis) >= fields.dim[0] && size == 0) size = 1;
    check(size * unit >= kShortestVoxel && size * unit <= kLongestVoxel, ErrorKind::Input,
          "[io.nifti] {}: the spacing of axis {} makes no sense; got {} mm, expected {} to {}. "
          "Is its header damaged?",
          name, axis, size * unit, kShortestVoxel, kLongestVoxel);
  }
  return sizes;
}

Affine sform_affine(const NiftiFields& fields) {
  return {fields.srow[0], fields.srow[1], fields.srow[2], {0, 0, 0, 1}};
}

/// The scalar part a of the unit quaternion (a, b, c, d), of which the file has b, c, d; rounding
/// may have made those slightly too long.
long double quaternion_scalar(const NiftiFields& fields, const std::string& name) {
  const auto [b, c, d] = fields.quaternion;
  const auto square = [](long double value) { return value * value; };
  const long double rest = 1 - (square(b) + square(c) + square(d));
  const double tolerance = 3 * (fields.version == 1 ? std::numeric_limits<float>::epsilon()
                                                    : std::numeric_limits<double>::epsilon());
  if (std::abs(rest) < tolerance) return 0;
  check(rest > 0, ErrorKind::Input,
        "[io.nifti] {}: the qform's quaternion is too long; got b, c, d of {}, {}, {}, expected a "
        "sum of squares of at most 1. Is its header damaged?",
        name, b, c, d);
  return std::sqrt(rest);
}

/// In long double, as nibabel computes it, so that affines agree to the last bit.
std::array<std::array<long double, 3>, 3> rotation_of(long double a, long double b, long double c,
                                                      long double d) {
  const auto s = 2 / (a * a + b * b + c * c + d * d);
  return {{{1 - s * (c * c + d * d), s * (b * c - a * d), s * (b * d + a * c)},
           {s * (b * c + a * d), 1 - s * (b * b + d * d), s * (c * d - a * b)},
           {s * (b * d - a * c), s * (c * d + a * b), 1 - s * (b * b + c * c)}}};
}

Affine qform_affine(const NiftiFields& fields, const std::array<double, 3>& sizes,
                    const std::string& name) {
  const auto a = quaternion_scalar(fields, name);
  const auto [b, c, d] = fields.quaternion;
  const auto rotation = rotation_of(a, b, c, d);
  const double handedness = fields.pixdim[0] == -1 ? -1 : 1;
  Affine affine{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double step = axis == 2 ? handedness * sizes[axis] : sizes[axis];
      affine[row][axis] = static_cast<double>(rotation[row][axis] * step);
    }
    affine[row][3] = fields.qoffset[row];
  }
  affine[3][3] = 1;
  return affine;
}

/// Neither sform nor qform: the origin is the centre of the volume and x runs from right to left,
/// as in Analyze files.
Affine spacing_affine(const std::array<std::int64_t, 3>& shape, const NiftiFields& fields,
                      std::array<double, 3> sizes) {
  Affine affine{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (static_cast<std::int64_t>(axis) >= fields.dim[0]) sizes[axis] = 1;
    const double step = axis == 0 ? -sizes[axis] : sizes[axis];
    affine[axis][axis] = step;
    affine[axis][3] = -static_cast<double>(shape[axis] - 1) / 2 * step;
  }
  affine[3][3] = 1;
  return affine;
}

double determinant(const Matrix3& m) {
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/// The directions of the axes as unit columns.
Matrix3 directions_of(const Affine& affine) {
  const auto lengths = column_lengths(affine);
  Matrix3 directions{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      directions[row][axis] = affine[row][axis] / lengths[axis];
    }
  }
  return directions;
}

bool at_right_angles(const Matrix3& directions) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double cosine = 0;
    for (const auto& row : directions) cosine += row[axis] * row[(axis + 1) % 3];
    if (std::abs(cosine) > kRightAngle) return false;
  }
  return true;
}

/// Computed from the largest of the four components, so that the divisor is never small.
std::array<double, 4> quaternion_of(const Matrix3& r) {
  const double trace = r[0][0] + r[1][1] + r[2][2];
  const std::array<double, 4> squares = {trace, r[0][0], r[1][1], r[2][2]};
  const auto largest =
      static_cast<std::size_t>(std::max_element(squares.begin(), squares.end()) - squares.begin());
  std::array<double, 4> q{};
  if (largest == 0) {
    q = {1 + trace, r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]};
  } else {
    const auto i = largest - 1, j = (i + 1) % 3, k = (i + 2) % 3;
    q[0] = r[k][j] - r[j][k];
    q[1 + i] = 1 + 2 * r[i][i] - trace;
    q[1 + j] = r[j][i] + r[i][j];
    q[1 + k] = r[k][i] + r[i][k];
  }
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double divisor = q[0] < 0 ? -length : length;
  for (auto& part : q) part /= divisor;
  return q;
}

}  // namespace

std::array<double, 3> column_lengths(const Affine& affine) {
  std::array<double, 3> lengths{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    lengths[axis] = std::hypot(affine[0][axis], affine[1][axis], affine[2][axis]);
  }
  return lengths;
}

void check_affine(const Affine& affine, ErrorKind kind, const std::string& name) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double length = column_lengths(affine)[axis];
    check(length >= kShortestVoxel && length <= kLongestVoxel, kind,
          "[io.nifti] {}: the affine makes no sense; got {} mm per voxel along axis {}, expected "
          "{} to {}. Is its header damaged?",
          name, length, axis, kShortestVoxel, kLongestVoxel);
    check(std::abs(affine[axis][3]) <= kFarthestVoxel, kind,
          "[io.nifti] {}: the affine makes no sense; got an offset of {} mm, expected less than "
          "{}. Is its header damaged?",
          name, affine[axis][3], kFarthestVoxel);
  }
  const double volume = determinant(directions_of(affine));
  check(std::abs(volume) >= kFlatSpace, kind,
        "[io.nifti] {}: the affine is singular; its three axes lie in one plane, expected them to "
        "span a space. Is its header damaged?",
        name);
}

void set_affine(NiftiHeader& header, const NiftiFields& fields, const std::string& name) {
  const double unit = millimetres_per_unit(fields.units);
  const auto sizes = voxel_sizes(fields, unit, name);
  header.qform_code = form_code(fields.qform_code);
  header.sform_code = form_code(fields.sform_code);
  if (header.sform_code > 0) {
    header.affine_source = AffineSource::Sform;
    header.affine = sform_affine(fields);
  } else if (header.qform_code > 0) {
    header.affine_source = AffineSource::Qform;
    header.affine = qform_affine(fields, sizes, name);
  } else {
    header.affine_source = AffineSource::Spacing;
    header.affine = spacing_affine(header.shape, fields, sizes);
  }
  for (std::size_t row = 0; row < 3; ++row) {
    header.spacing[row] = sizes[row] * unit;
    for (auto& value : header.affine[row]) value *= unit;
  }
  check_affine(header.affine, ErrorKind::Input, name);
}

std::optional<NiftiQform> qform_of(const Affine& affine) {
  auto rotation = directions_of(affine);
  if (!at_right_angles(rotation)) return std::nullopt;
  NiftiQform qform;
  if (determinant(rotation) < 0) {
    qform.handedness = -1;
    for (auto& row : rotation) row[2] = -row[2];
  }
  const auto quaternion = quaternion_of(rotation);
  qform.quaternion = {quaternion[1], quaternion[2], quaternion[3]};
  return qform;
}

}  // namespace ubique::io
