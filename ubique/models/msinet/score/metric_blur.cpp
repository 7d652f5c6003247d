// SPDX-License-Identifier: Apache-2.0
// Separable blur: along rows with points, then across columns.
#include "ubique/models/msinet/score/metric_blur.h"

#include <cmath>
#include <map>

#include "ubique/base/error.h"

namespace ubique::msinet {
namespace {

constexpr double kBlurCut = 4;       // deviations
constexpr double kWidestBlur = 1e4;  // pixels: more is a typing error

std::vector<double> blur_kernel(double sigma) {
  const int radius = static_cast<int>(kBlurCut * sigma + 0.5);
  std::vector<double> kernel;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    kernel.push_back(radius == 0 ? 1 : std::exp(-0.5 * i * i / (sigma * sigma)));
    sum += kernel.back();
  }
  for (double& weight : kernel) weight /= sum;
  return kernel;
}

/// Index under mirroring at both edges: (d c b a | a b c d | d c b a).
std::size_t mirrored(std::int64_t index, std::int64_t length) {
  index %= 2 * length;
  if (index < 0) index += 2 * length;
  return static_cast<std::size_t>(index < length ? index : 2 * length - 1 - index);
}

}  // namespace

std::vector<double> blur_points(std::span<const MapPoint> points, int width, int height,
                                double sigma) {
  check(sigma >= 0 && sigma <= kWidestBlur, ErrorKind::Usage,
        "[msinet.blur] the deviation of a blur is not usable; got {}, expected 0 to {} pixels.",
        sigma, kWidestBlur);
  const auto kernel = blur_kernel(sigma);
  const auto radius = static_cast<std::int64_t>(kernel.size() / 2);
  const auto columns = static_cast<std::size_t>(width);
  std::map<std::int64_t, std::vector<double>> rows;  // rows with points, blurred horizontally
  for (const auto& point : points) {
    check(inside(point, width, height), ErrorKind::Input,
          "[msinet.blur] a fixation lies outside of the map; got ({}, {}), expected 0 <= x < {} "
          "and 0 <= y < {}.",
          point.x, point.y, width, height);
    auto& row = rows[static_cast<std::int64_t>(point.y)];
    row.resize(columns);
    const auto x = static_cast<std::int64_t>(point.x);
    for (std::size_t k = 0; k < kernel.size(); ++k) {
      row[mirrored(x + static_cast<std::int64_t>(k) - radius, width)] += kernel[k];
    }
  }
  std::vector<double> blurred(columns * static_cast<std::size_t>(height));
  for (const auto& [y, row] : rows) {
    for (std::size_t k = 0; k < kernel.size(); ++k) {
      const auto target = mirrored(y + static_cast<std::int64_t>(k) - radius, height);
      double* to = blurred.data() + target * columns;
      for (std::size_t x = 0; x < columns; ++x) to[x] += kernel[k] * row[x];
    }
  }
  return blurred;
}

}  // namespace ubique::msinet
