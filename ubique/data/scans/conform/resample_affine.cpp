// SPDX-License-Identifier: Apache-2.0
// Resampling under any affine: axis-aligned grids use the tables of resample.cpp, oblique ones are
// interpolated voxel by voxel.
#include <algorithm>
#include <cmath>

#include "ubique/base/numbers/large_vector.h"
#include "ubique/base/parallel.h"
#include "ubique/data/scans/conform/resample.h"

namespace ubique::data {
namespace {

constexpr double kSlack = 1e-9;  // voxels; far above rounding, far below any real displacement

/// x clamped to [0, length - 1], or -1 where it is outside.
double point_on_axis(double x, std::int64_t length, Edge edge) {
  const double last = static_cast<double>(length - 1);
  const double reach = kSlack + (edge == Edge::Strict ? 0 : 0.5);
  if (!(x >= -reach && x <= last + reach)) return -1;
  return std::clamp(x, 0.0, last);
}

/// Whether the off-diagonal terms move no voxel by more than the slack.
bool is_axis_aligned(const Affine& to_source, const Shape3& shape) {
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double moved = std::abs(to_source[row][axis]) * static_cast<double>(shape[axis]);
      if (row != axis && moved > kSlack) return false;
    }
  }
  return true;
}

AxisTables tables_of(const Affine& to_source, const Shape3& shape, const Shape3& source,
                     Edge edge) {
  AxisTables tables;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::int64_t i = 0; i < shape[axis]; ++i) {
      const double x = to_source[axis][axis] * static_cast<double>(i) + to_source[axis][3];
      const double point = point_on_axis(x, source[axis], edge), lower = std::floor(point);
      tables[axis].lower.push_back(static_cast<std::int64_t>(lower));
      tables[axis].weight.push_back(point - lower);
    }
  }
  return tables;
}

/// The nearer of the two voxels around a point.
std::int64_t nearest_of(std::int64_t lower, double weight) {
  return weight + kSlack >= 0.5 ? lower + 1 : lower;
}

/// A point of the source: the voxel below it, and the fraction towards the next, per axis.
struct Corner {
  std::int64_t lower[3];
  double weight[3];
};

/// The point of the source that a voxel of the result maps to; false outside.
bool locate(const Affine& to_source, const Shape3& length, Edge edge, const double (&voxel)[3],
            Corner& corner) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto& row = to_source[axis];
    const double x = row[3] + row[0] * voxel[0] + row[1] * voxel[1] + row[2] * voxel[2];
    const double point = point_on_axis(x, length[axis], edge);
    if (point < 0) return false;
    corner.lower[axis] = static_cast<std::int64_t>(point);
    corner.weight[axis] = point - static_cast<double>(corner.lower[axis]);
  }
  return true;
}

double linear_value(const Volume& source, const Corner& corner) {
  const auto& [lower, weight] = corner;
  const float* first = &source.at(lower[0], lower[1], lower[2]);
  const std::int64_t strides[3] = {source.shape[1] * source.shape[2], source.shape[2], 1};
  std::int64_t step[3];
  for (std::size_t axis = 0; axis < 3; ++axis) step[axis] = weight[axis] > 0 ? strides[axis] : 0;
  double sum = 0;
  for (std::int64_t i = 0; i < 2; ++i) {
    const double wi = i == 0 ? 1 - weight[0] : weight[0];
    for (std::int64_t j = 0; j < 2; ++j) {
      const double wj = j == 0 ? 1 - weight[1] : weight[1];
      const float* at = first + i * step[0] + j * step[1];
      sum += wi * wj * (at[0] * (1 - weight[2]) + at[step[2]] * weight[2]);
    }
  }
  return sum;
}

std::uint8_t nearest_value(const LabelMap& source, const Corner& corner) {
  const auto& [lower, weight] = corner;
  return source.at(nearest_of(lower[0], weight[0]), nearest_of(lower[1], weight[1]),
                   nearest_of(lower[2], weight[2]));
}

/// result(i, j, k) = value(point of the source), 0 outside.
template <typename T, typename Value>
Grid<T> voxel_by_voxel(const Shape3& source, const Affine& to_source, const Shape3& shape,
                       Edge edge, int threads, const Value& value) {
  Grid<T> result{shape, {}, large_vector<T>(static_cast<std::size_t>(voxel_count(shape)))};
  parallel_for(shape[0], threads, [&](std::int64_t begin, std::int64_t end) {
    Corner corner{};
    for (auto i = begin; i < end; ++i) {
      for (std::int64_t j = 0; j < shape[1]; ++j) {
        T* row = &result.at(i, j, 0);
        for (std::int64_t k = 0; k < shape[2]; ++k) {
          const double voxel[3] = {static_cast<double>(i), static_cast<double>(j),
                                   static_cast<double>(k)};
          if (locate(to_source, source, edge, voxel, corner)) row[k] = value(corner);
        }
      }
    }
  });
  return result;
}

}  // namespace

Volume resample_linear(const Volume& source, const Affine& to_source, const Shape3& shape,
                       Edge edge, Rounding rounding, int threads) {
  if (is_axis_aligned(to_source, shape)) {
    return resample_linear(source, tables_of(to_source, shape, source.shape, edge), rounding,
                           threads);
  }
  return voxel_by_voxel<float>(
      source.shape, to_source, shape, edge, threads,
      [&](const Corner& corner) { return stored_value(linear_value(source, corner), rounding); });
}

LabelMap resample_nearest(const LabelMap& source, const Affine& to_source, const Shape3& shape,
                          Edge edge, int threads) {
  if (!is_axis_aligned(to_source, shape)) {
    return voxel_by_voxel<std::uint8_t>(
        source.shape, to_source, shape, edge, threads,
        [&](const Corner& corner) { return nearest_value(source, corner); });
  }
  auto tables = tables_of(to_source, shape, source.shape, edge);
  for (auto& table : tables) {
    for (std::size_t i = 0; i < table.lower.size(); ++i) {
      table.lower[i] = nearest_of(table.lower[i], table.weight[i]);
    }
  }
  return resample_nearest(source, tables, threads);
}

}  // namespace ubique::data
