// SPDX-License-Identifier: Apache-2.0
// The scan as BrainChop's browser application gives it to its networks: 1 mm cube in LIA axes, 8
// bits, brightness cut where the top thousandth of the non-zero voxels begins.
#include <algorithm>
#include <cmath>

#include "ubique/base/parallel.h"
#include "ubique/data/scans/conform/methods.h"
#include "ubique/data/scans/volume/orientation.h"

namespace ubique::data {
namespace {

constexpr std::size_t kBins = 1000;
constexpr double kShareKept = 0.999;
constexpr double kWhite = 255;
constexpr std::string_view kBrowserAxes = "LIA";

bool is_8_bit(const Scan& scan) { return scan.header.dtype == DType::U8 && scan.stored_integers; }

bool is_conformed(const Scan& scan, const TargetGrid& target) {
  return is_8_bit(scan) && scan.volume.shape == target.shape &&
         axis_codes(scan.volume.affine) == kBrowserAxes;
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

RobustScale robust_scale(const std::vector<float>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double width = (static_cast<double>(*high) - *low) / kBins;
  if (!(width > 0)) return {*low, 1};
  const auto non_zero = std::count_if(values.begin(), values.end(),
                                      [](float value) { return std::abs(value) >= 1e-15F; });
  const auto bins = histogram(values, *low, width);
  const auto kept = static_cast<std::int64_t>(values.size()) -
                    static_cast<std::int64_t>((1 - kShareKept) * static_cast<double>(non_zero));
  // The brightest value is the lower end of the bin before the one in which the count is reached.
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
  result[0][0] = -target.spacing[0];  // i to the left
  result[2][1] = -target.spacing[1];  // j down
  result[1][2] = target.spacing[2];   // k to the front
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
  // Resampled in canonical axes, where straight scans need no voxel-by-voxel work, then turned.
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
