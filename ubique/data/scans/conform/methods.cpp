// SPDX-License-Identifier: Apache-2.0
// The conform methods: SciPy's zoom (same coordinates to the last bit, computed only where the crop
// leaves voxels), nibabel's conform, and BrainChop's browser application.
#include "ubique/data/scans/conform/methods.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/parallel.h"
#include "ubique/data/scans/volume/orientation.h"

namespace ubique::data {
namespace {

/// One axis of a zoom: n voxels zoomed to m, then cropped or padded to the target.
struct ZoomAxis {
  std::int64_t length;  // n
  std::int64_t zoomed;  // m
  std::int64_t target;  // after crop and pad
  std::int64_t offset;  // zoomed voxel = target voxel + offset
  double step;          // source voxels per zoomed voxel
};

ZoomAxis zoom_axis(std::int64_t length, double spacing, std::int64_t target,
                   double target_spacing) {
  // nearbyint: halves to even, as Python rounds.
  const double zoomed = std::nearbyint(static_cast<double>(length) * (spacing / target_spacing));
  check(zoomed >= 1, ErrorKind::Input,
        "[data.conform] the scan is too thin for this target; got {} voxels of {} mm along one "
        "axis, expected at least half a voxel of {} mm.",
        length, spacing, target_spacing);
  check(zoomed < 0x1p40, ErrorKind::Input,
        "[data.conform] the scan is too large for this target; got {} voxels of {} mm along one "
        "axis. Is the spacing in its header right?",
        length, spacing);
  ZoomAxis axis{length, static_cast<std::int64_t>(zoomed), target, 0, 1};
  const bool crops = axis.zoomed > target;
  axis.offset = crops ? (axis.zoomed - target) / 2 : -((target - axis.zoomed) / 2);
  if (axis.zoomed > 1) {
    axis.step = static_cast<double>(length - 1) / static_cast<double>(axis.zoomed - 1);
  }
  return axis;
}

std::array<ZoomAxis, 3> zoom_axes(const Shape3& shape, const Affine& affine,
                                  const TargetGrid& target) {
  const auto spacing = spacing_of(affine);
  const auto axis = [&](std::size_t i) {
    return zoom_axis(shape[i], spacing[i], target.shape[i], target.spacing[i]);
  };
  return {axis(0), axis(1), axis(2)};
}

enum class Order { Nearest, Linear };

AxisTable zoom_table(const ZoomAxis& axis, Order order) {
  AxisTable table;
  const double last = static_cast<double>(axis.length - 1);
  for (std::int64_t i = 0; i < axis.target; ++i) {
    const auto zoomed = i + axis.offset;
    const double x = static_cast<double>(zoomed) * axis.step;
    // As in SciPy: where the product rounds to above the last voxel, the plane counts as outside
    // and becomes zeros.
    const bool inside = zoomed >= 0 && zoomed < axis.zoomed && x <= last;
    const double lower = !inside ? -1 : std::floor(order == Order::Nearest ? x + 0.5 : x);
    table.lower.push_back(static_cast<std::int64_t>(lower));
    table.weight.push_back(inside && order == Order::Linear ? x - lower : 0);
  }
  return table;
}

AxisTables zoom_tables(const std::array<ZoomAxis, 3>& axes, Order order) {
  return {zoom_table(axes[0], order), zoom_table(axes[1], order), zoom_table(axes[2], order)};
}

/// The affine that maps each result voxel to the source voxel it was sampled from.
Affine zoomed_affine(const Affine& canonical, const std::array<ZoomAxis, 3>& axes) {
  Affine to_source{};
  to_source[3][3] = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& axis = axes[i];
    // A single voxel has no corners to align: the extents of the two grids are matched instead.
    const bool aligned = axis.length > 1 && axis.zoomed > 1;
    const double step =
        aligned ? axis.step : static_cast<double>(axis.length) / static_cast<double>(axis.zoomed);
    const double start = aligned ? 0 : 0.5 * step - 0.5;
    to_source[i][i] = step;
    to_source[i][3] = start + step * static_cast<double>(axis.offset);
  }
  return multiply(canonical, to_source);
}

constexpr std::size_t kBins = 1000;
constexpr double kShareKept = 0.999;
constexpr double kWhite = 255;
constexpr std::string_view kBrowserAxes = "LIA";

bool is_8_bit(const Scan& scan) { return scan.header.dtype == DType::U8 && scan.stored_integers; }

/// BrainChop asks nothing of the scan's own spacing, but its target has 1 mm only.
bool is_conformed(const Scan& scan, const TargetGrid& target) {
  return target.spacing == std::array<double, 3>{1, 1, 1} && is_8_bit(scan) &&
         scan.volume.shape == target.shape && axis_codes(scan.volume.affine) == kBrowserAxes;
}

std::vector<std::int64_t> histogram(const std::vector<float>& values, double low, double width) {
  std::vector<std::int64_t> bins(kBins);
  for (const float value : values) {
    const auto bin = static_cast<std::size_t>((value - low) / width);
    ++bins[std::min(bin, kBins - 1)];
  }
  return bins;
}

void to_8_bits(std::vector<float>& values, const RobustScale& scale, int threads) {
  const auto count = static_cast<std::int64_t>(values.size());
  parallel_for(count, threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto& value = values[static_cast<std::size_t>(i)];
      const double scaled = scale.factor * (static_cast<double>(value) - scale.low);
      value = static_cast<float>(static_cast<int>(std::clamp(scaled, 0.0, kWhite)));
    }
  });
}

}  // namespace

Volume zoom_to(const Volume& canonical, const TargetGrid& target, int threads) {
  const auto axes = zoom_axes(canonical.shape, canonical.affine, target);
  auto zoomed =
      resample_linear(canonical, zoom_tables(axes, Order::Linear), Rounding::None, threads);
  zoomed.affine = zoomed_affine(canonical.affine, axes);
  return zoomed;
}

LabelMap zoom_to(const LabelMap& canonical, const TargetGrid& target, int threads) {
  const auto axes = zoom_axes(canonical.shape, canonical.affine, target);
  auto zoomed = resample_nearest(canonical, zoom_tables(axes, Order::Nearest), threads);
  zoomed.affine = zoomed_affine(canonical.affine, axes);
  return zoomed;
}

Affine centred_affine(const Shape3& shape, const Affine& canonical, const TargetGrid& target) {
  const auto spacing = spacing_of(canonical);
  auto affine = canonical;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double from = static_cast<double>((shape[axis] - 1) / 2);
    const double to = static_cast<double>((target.shape[axis] - 1) / 2);
    for (std::size_t row = 0; row < 3; ++row) {
      affine[row][axis] = canonical[row][axis] * target.spacing[axis] / spacing[axis];
      affine[row][3] += canonical[row][axis] * from - affine[row][axis] * to;
    }
  }
  return affine;
}

Volume resample_centred(const Volume& canonical, const TargetGrid& target, Rounding rounding,
                        int threads) {
  const auto affine = centred_affine(canonical.shape, canonical.affine, target);
  const auto to_source = multiply(inverse(canonical.affine), affine);
  auto result =
      resample_linear(canonical, to_source, target.shape, Edge::Strict, rounding, threads);
  result.affine = affine;
  return result;
}

RobustScale robust_scale(const std::vector<float>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double width = (static_cast<double>(*high) - *low) / kBins;
  if (!(width > 0)) return {*low, 1};
  const auto non_zero = std::count_if(values.begin(), values.end(),
                                      [](float value) { return std::abs(value) >= 1e-15F; });
  const auto bins = histogram(values, *low, width);
  const auto kept = static_cast<std::int64_t>(values.size()) -
                    static_cast<std::int64_t>((1 - kShareKept) * static_cast<double>(non_zero));
  // White is the lower end of the bin before the one in which the count is reached.
  std::size_t bin = 0;
  auto count = bins[0];
  while (bin < kBins - 1) {
    count += bins[bin + 1];
    if (count >= kept) break;
    ++bin;
  }
  return {*low, bin == 0 ? 1 : kWhite / (static_cast<double>(bin) * width)};
}

Affine browser_affine(const Shape3& shape, const Affine& affine, const TargetGrid& target) {
  Affine result{};
  result[0][0] = -target.spacing[0];  // i: left
  result[2][1] = -target.spacing[1];  // j: inferior
  result[1][2] = target.spacing[2];   // k: anterior
  result[3][3] = 1;
  for (std::size_t row = 0; row < 3; ++row) {
    result[row][3] = affine[row][3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      result[row][3] += affine[row][axis] * static_cast<double>(shape[axis]) / 2 -
                        result[row][axis] * static_cast<double>(target.shape[axis]) / 2;
    }
  }
  return result;
}

Volume conform_for_browser(const Scan& scan, const TargetGrid& target, int threads) {
  if (is_conformed(scan, target)) return scan.volume;
  const auto affine = browser_affine(scan.volume.shape, scan.volume.affine, target);
  // Resampled in canonical axes, where axis-aligned scans use the fast tables, then reordered.
  const auto source = to_canonical(scan.volume, threads);
  const auto moves = moves_to(affine, "RAS");
  const auto to_source =
      multiply(inverse(source.affine), moved_affine(affine, target.shape, moves));
  auto straight = resample_linear(source, to_source, moved_shape(target.shape, moves), Edge::Strict,
                                  Rounding::None, threads);
  const auto scale = is_8_bit(scan) ? RobustScale{} : robust_scale(scan.volume.values);
  to_8_bits(straight.values, scale, threads);
  auto result = move_axes(straight, inverse(moves), threads);
  result.affine = affine;
  return result;
}

}  // namespace ubique::data
