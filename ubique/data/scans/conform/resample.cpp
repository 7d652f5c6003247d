// SPDX-License-Identifier: Apache-2.0
// Separable interpolation with one table per axis: blend two planes, then two rows of the result,
// then values along the row; all in double, rounded once.
#include "ubique/data/scans/conform/resample.h"

#include <tuple>

#include "ubique/base/numbers/large_vector.h"
#include "ubique/base/parallel.h"

namespace ubique::data {
namespace {

/// out = a * (1 - weight) + b * weight
template <typename T>
void blend(const T* a, const T* b, double weight, std::int64_t count, double* out) {
  const double rest = 1 - weight;
  for (std::int64_t i = 0; i < count; ++i) out[i] = a[i] * rest + b[i] * weight;
}

/// Computes output planes; holds buffers for one blended plane and row of the source.
class LinearPlanes {
 public:
  LinearPlanes(const Volume& source, const AxisTables& tables, Rounding rounding)
      : source_(source),
        tables_(tables),
        rounding_(rounding),
        plane_(static_cast<std::size_t>(source.shape[1] * source.shape[2])),
        row_(static_cast<std::size_t>(source.shape[2]) + 1) {}

  void write(std::int64_t i, float* out) {  // (j, k) of the result
    const auto& [rows, columns] = std::tie(tables_[1], tables_[2]);
    const auto at = static_cast<std::size_t>(i);
    if (tables_[0].lower[at] < 0) return;
    fill_plane(tables_[0].lower[at], tables_[0].weight[at]);
    for (std::size_t j = 0; j < rows.lower.size(); ++j) {
      if (rows.lower[j] < 0) continue;
      fill_row(rows.lower[j], rows.weight[j]);
      interpolate(columns, out + j * columns.lower.size());
    }
  }

 private:
  void fill_plane(std::int64_t lower, double weight) {
    const auto size = static_cast<std::int64_t>(plane_.size());
    const float* first = source_.values.data() + lower * size;
    blend(first, weight > 0 ? first + size : first, weight, size, plane_.data());
  }

  void fill_row(std::int64_t lower, double weight) {
    const auto size = source_.shape[2];
    const double* first = plane_.data() + lower * size;
    blend(first, weight > 0 ? first + size : first, weight, size, row_.data());
  }

  void interpolate(const AxisTable& table, float* out) const {
    for (std::size_t k = 0; k < table.lower.size(); ++k) {
      if (table.lower[k] < 0) continue;
      // The row has one extra element after the last voxel, finite and read with weight 0.
      const double* at = row_.data() + table.lower[k];
      out[k] = stored_value(at[0] * (1 - table.weight[k]) + at[1] * table.weight[k], rounding_);
    }
  }

  const Volume& source_;
  const AxisTables& tables_;
  Rounding rounding_;
  std::vector<double> plane_, row_;
};

Shape3 shape_of(const AxisTables& tables) {
  Shape3 shape{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    shape[axis] = static_cast<std::int64_t>(tables[axis].lower.size());
  }
  return shape;
}

template <typename T>
Grid<T> zeros(const Shape3& shape) {
  return {shape, {}, large_vector<T>(static_cast<std::size_t>(voxel_count(shape)))};
}

}  // namespace

Volume resample_linear(const Volume& source, const AxisTables& tables, Rounding rounding,
                       int threads) {
  auto result = zeros<float>(shape_of(tables));
  const auto plane = result.shape[1] * result.shape[2];
  parallel_for(result.shape[0], threads, [&](std::int64_t begin, std::int64_t end) {
    LinearPlanes planes(source, tables, rounding);
    for (auto i = begin; i < end; ++i) planes.write(i, result.values.data() + i * plane);
  });
  return result;
}

LabelMap resample_nearest(const LabelMap& source, const AxisTables& tables, int threads) {
  auto result = zeros<std::uint8_t>(shape_of(tables));
  const auto& columns = tables[2].lower;
  parallel_for(result.shape[0], threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto from_i = tables[0].lower[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < result.shape[1] && from_i >= 0; ++j) {
        const auto from_j = tables[1].lower[static_cast<std::size_t>(j)];
        if (from_j < 0) continue;
        const auto* from = &source.at(from_i, from_j, 0);
        auto* to = &result.at(i, j, 0);
        for (std::size_t k = 0; k < columns.size(); ++k)
          to[k] = columns[k] < 0 ? 0 : from[columns[k]];
      }
    }
  });
  return result;
}

}  // namespace ubique::data
