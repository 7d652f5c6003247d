// SPDX-License-Identifier: Apache-2.0
// The polar factor of the direction matrix (by one-sided Jacobi rotations, accurate for oblique and
// sheared grids) decides which body axis each grid axis is assigned to.
#include "ubique/data/scans/volume/orientation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/numbers/large_vector.h"
#include "ubique/data/scans/volume/strided.h"

namespace ubique::data {
namespace {

using Vector3 = std::array<double, 3>;
using Columns3 = std::array<Vector3, 3>;

constexpr std::string_view kGrowing = "RAS", kFalling = "LPI";
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Rotates columns p and q of both matrices; returns false if they were orthogonal already.
bool make_orthogonal(Columns3& a, Columns3& v, std::size_t p, std::size_t q) {
  const double pp = dot(a[p], a[p]), qq = dot(a[q], a[q]), pq = dot(a[p], a[q]);
  if (std::abs(pq) <= kEpsilon * std::sqrt(pp * qq)) return false;
  const double zeta = (qq - pp) / (2 * pq);
  const double tangent = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
  const double cosine = 1 / std::hypot(1.0, tangent), sine = cosine * tangent;
  for (auto* matrix : {&a, &v}) {
    for (std::size_t row = 0; row < 3; ++row) {
      const double x = (*matrix)[p][row], y = (*matrix)[q][row];
      (*matrix)[p][row] = cosine * x - sine * y;
      (*matrix)[q][row] = sine * x + cosine * y;
    }
  }
  return true;
}

/// The orthogonal matrix nearest to one with these columns; missing directions stay zero.
Columns3 nearest_rotation(Columns3 a) {
  constexpr int kMostSweeps = 40;  // four or five are usual
  Columns3 v{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    const bool first = make_orthogonal(a, v, 0, 1), second = make_orthogonal(a, v, 0, 2);
    if (const bool third = make_orthogonal(a, v, 1, 2); !first && !second && !third) break;
  }
  Vector3 singular{};
  for (std::size_t i = 0; i < 3; ++i) singular[i] = std::sqrt(dot(a[i], a[i]));
  const double least = *std::max_element(singular.begin(), singular.end()) * 3 * kEpsilon;
  Columns3 rotation{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(singular[i] > least)) continue;
    for (std::size_t column = 0; column < 3; ++column) {
      for (std::size_t row = 0; row < 3; ++row) {
        rotation[column][row] += a[i][row] / singular[i] * v[i][column];
      }
    }
  }
  return rotation;
}

struct Direction {
  std::size_t world = 0;  // 0 right, 1 anterior, 2 superior
  bool falling = false;
};

double strongest(const Vector3& column) {
  return std::max({std::abs(column[0]), std::abs(column[1]), std::abs(column[2])});
}

/// For each grid axis, the body axis it is assigned to.
std::array<Direction, 3> directions_of(const Affine& affine) {
  const auto spacing = spacing_of(affine);
  Columns3 columns{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t row = 0; row < 3; ++row) {
      columns[axis][row] = affine[row][axis] / (spacing[axis] > 0 ? spacing[axis] : 1);
    }
  }
  auto rotation = nearest_rotation(columns);
  std::array<std::size_t, 3> order{0, 1, 2};
  std::stable_sort(order.begin(), order.end(), [strength = rotation](auto a, auto b) {
    return strongest(strength[a]) > strongest(strength[b]);
  });
  std::array<Direction, 3> directions{};
  for (const auto axis : order) {
    auto& column = rotation[axis];
    check(strongest(column) > 1e-8, ErrorKind::Input,
          "[data.orientation] the affine does not say where axis {} runs; expected three "
          "independent directions.",
          axis);
    std::size_t world = 0;
    for (std::size_t row = 1; row < 3; ++row) {
      if (std::abs(column[row]) > std::abs(column[world])) world = row;
    }
    directions[axis] = {world, column[world] < 0};
    for (auto& other : rotation) other[world] = 0;  // assigned: not available to the other axes
  }
  return directions;
}

}  // namespace

AxisMoves moves_to(const Affine& affine, std::string_view codes) {
  const auto directions = directions_of(affine);
  AxisMoves moves{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto growing = kGrowing.find(codes[axis]), falling = kFalling.find(codes[axis]);
    const auto world = growing != std::string_view::npos ? growing : falling;
    for (std::size_t source = 0; source < 3; ++source) {
      if (directions[source].world != world) continue;
      const bool wanted_falling = growing == std::string_view::npos;
      moves[axis] = {static_cast<int>(source), directions[source].falling != wanted_falling};
    }
  }
  return moves;
}

std::string axis_codes(const Affine& affine) {
  std::string codes;
  for (const auto& direction : directions_of(affine)) {
    codes += (direction.falling ? kFalling : kGrowing)[direction.world];
  }
  return codes;
}

AxisMoves inverse(const AxisMoves& moves) {
  AxisMoves back{};
  for (int axis = 0; axis < 3; ++axis) {
    const auto& move = moves[static_cast<std::size_t>(axis)];
    back[static_cast<std::size_t>(move.source)] = {axis, move.flipped};
  }
  return back;
}

bool is_identity(const AxisMoves& moves) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto& move = moves[static_cast<std::size_t>(axis)];
    if (move.source != axis || move.flipped) return false;
  }
  return true;
}

Shape3 moved_shape(const Shape3& shape, const AxisMoves& moves) {
  Shape3 moved{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    moved[axis] = shape[static_cast<std::size_t>(moves[axis].source)];
  }
  return moved;
}

Affine moved_affine(const Affine& affine, const Shape3& shape, const AxisMoves& moves) {
  auto moved = affine;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto source = static_cast<std::size_t>(moves[axis].source);
    const double last = static_cast<double>(shape[source] - 1);
    for (std::size_t row = 0; row < 3; ++row) {
      moved[row][axis] = moves[axis].flipped ? 0 - affine[row][source] : affine[row][source];
      if (moves[axis].flipped) moved[row][3] += affine[row][source] * last;
    }
  }
  return moved;
}

MovedSteps moved_steps(const Shape3& shape, const Shape3& strides, const AxisMoves& moves) {
  MovedSteps moved;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto source = static_cast<std::size_t>(moves[axis].source);
    moved.steps[axis] = moves[axis].flipped ? -strides[source] : strides[source];
    if (moves[axis].flipped) moved.start += strides[source] * (shape[source] - 1);
  }
  return moved;
}

template <typename T>
Grid<T> move_axes(const Grid<T>& grid, const AxisMoves& moves, int threads) {
  if (is_identity(moves)) return grid;
  Grid<T> moved{moved_shape(grid.shape, moves), moved_affine(grid.affine, grid.shape, moves), {}};
  const auto [start, steps] = moved_steps(grid.shape, dense_strides(grid.shape), moves);
  moved.values = large_vector<T>(grid.values.size());
  copy_strided(grid.values.data() + start, steps, moved.shape, moved.values.data(),
               dense_strides(moved.shape), threads);
  return moved;
}

template <typename T>
Grid<T> to_canonical(const Grid<T>& grid, int threads) {
  return move_axes(grid, moves_to(grid.affine, kGrowing), threads);
}

template Volume move_axes(const Volume&, const AxisMoves&, int);
template LabelMap move_axes(const LabelMap&, const AxisMoves&, int);
template Volume to_canonical(const Volume&, int);
template LabelMap to_canonical(const LabelMap&, int);

}  // namespace ubique::data
