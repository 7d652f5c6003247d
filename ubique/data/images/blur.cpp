// SPDX-License-Identifier: Apache-2.0
// Separable blurs. The Gaussian kernel is symmetric, so neighbours are added in pairs before they
// are weighted, as in SciPy.
#include "ubique/data/images/blur.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "ubique/base/error.h"
#include "ubique/base/parallel.h"

namespace ubique::data {
namespace {

constexpr double kBlurReach = 4;  // standard deviations
constexpr std::int64_t kBlurRowsAtOnce = 8;
constexpr double kNoGain = 45;  // exp(-45) is below double's epsilon

/// Weights of the distances 0, 1, ...; the full kernel sums to 1.
std::vector<double> half_kernel(double sigma) {
  const auto radius = static_cast<int>(kBlurReach * sigma + 0.5);
  std::vector<double> weights;
  double sum = 0;
  for (int i = 0; i <= radius; ++i) {
    weights.push_back(std::exp(-0.5 / (sigma * sigma) * i * i));
    sum += weights.back() * (i == 0 ? 1 : 2);
  }
  for (auto& weight : weights) weight /= sum;
  return weights;
}

/// Mirrored index: d c b a | a b c d | d c b a, at any distance.
int reflected(int i, int length) {
  const int period = 2 * length;
  const int j = ((i % period) + period) % period;
  return j < length ? j : period - 1 - j;
}

template <typename T>
void blur_down(const T* source, FrameSize size, int y, std::span<const double> kernel, T* out) {
  const auto width = static_cast<std::size_t>(size.width);
  const auto row = [&](int i) {
    return source + static_cast<std::size_t>(reflected(i, size.height)) * width;
  };
  const auto middle = static_cast<T>(kernel[0]);
  const auto* own = row(y);
  for (std::size_t x = 0; x < width; ++x) out[x] = own[x] * middle;
  for (std::size_t k = 1; k < kernel.size(); ++k) {
    const auto *above = row(y - static_cast<int>(k)), *below = row(y + static_cast<int>(k));
    const auto weight = static_cast<T>(kernel[k]);
    for (std::size_t x = 0; x < width; ++x) out[x] += (above[x] + below[x]) * weight;
  }
}

/// `padded` has kernel.size() - 1 extra values on each side.
template <typename T>
void blur_across(const T* padded, int width, std::span<const double> kernel, T* out) {
  const auto* centre = padded + kernel.size() - 1;
  const auto middle = static_cast<T>(kernel[0]);
  for (int x = 0; x < width; ++x) out[x] = centre[x] * middle;
  for (std::size_t k = 1; k < kernel.size(); ++k) {
    const auto weight = static_cast<T>(kernel[k]);
    const auto *left = centre - k, *right = centre + k;
    for (int x = 0; x < width; ++x) out[x] += (left[x] + right[x]) * weight;
  }
}

template <typename T>
void pad_reflected(const T* row, int width, int radius, T* padded) {
  for (int i = 0; i < radius; ++i) {
    padded[i] = row[reflected(i - radius, width)];
    padded[radius + width + i] = row[reflected(width + i, width)];
  }
  std::copy_n(row, width, padded + radius);
}

/// The filter along one axis as a circular convolution kernel of length n.
std::vector<double> circular_kernel(int n, double cycles) {
  const double falloff = std::numbers::ln2 / (cycles * cycles);
  const double reach = std::sqrt(kNoGain / falloff);
  const int last = static_cast<int>(std::min(reach, n / 2.0));
  std::vector<double> weights(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int u = -last; u <= std::min(last, n / 2 - 1); ++u) {
      sum += std::exp(-falloff * u * u) * std::cos(2 * std::numbers::pi * u * j / n);
    }
    weights[static_cast<std::size_t>(j)] = sum / n;
  }
  return weights;
}

}  // namespace

template <typename T>
void gaussian_blur(std::span<T> map, FrameSize size, double sigma, int threads) {
  const auto width = static_cast<std::size_t>(size.width);
  constexpr double kWidest = 1e6;
  check(sigma > 0 && sigma <= kWidest && size.height > 0 && size.width > 0 &&
            map.size() == static_cast<std::size_t>(size.height) * width,
        ErrorKind::Internal,
        "[data.blur] cannot blur {} values of {} x {} with sigma {}; expected a whole map and a "
        "sigma above 0.",
        map.size(), size.height, size.width, sigma);
  const auto kernel = half_kernel(sigma);
  const auto radius = static_cast<int>(kernel.size()) - 1;
  const std::vector<T> source(map.begin(), map.end());
  parallel_for(
      size.height, threads,
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<T> column(width), padded(width + 2 * static_cast<std::size_t>(radius));
        for (auto y = static_cast<int>(begin); y < end; ++y) {
          blur_down(source.data(), size, y, kernel, column.data());
          pad_reflected(column.data(), size.width, radius, padded.data());
          blur_across(padded.data(), size.width, kernel,
                      map.data() + static_cast<std::size_t>(y) * width);
        }
      },
      kBlurRowsAtOnce);
}

template void gaussian_blur(std::span<float>, FrameSize, double, int);
template void gaussian_blur(std::span<double>, FrameSize, double, int);

void fourier_blur(std::span<float> map, FrameSize size, double cycles, int threads) {
  const auto width = static_cast<std::size_t>(size.width);
  const auto height = static_cast<std::size_t>(size.height);
  check(cycles > 0 && std::isfinite(cycles) && size.height > 0 && size.width > 0 &&
            map.size() == height * width,
        ErrorKind::Internal,
        "[data.blur] cannot blur {} values of {} x {} at {} cycles; expected a whole map and "
        "cycles above 0.",
        map.size(), size.height, size.width, cycles);
  const auto n = std::bit_ceil(std::max({width, height, std::size_t{2}}));
  const auto kernel = circular_kernel(static_cast<int>(n), cycles);
  std::vector<double> across(map.size());  // convolved along the rows; most rows are empty
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i] == 0) continue;
    const auto from = i % width;
    for (std::size_t x = 0; x < width; ++x) {
      across[i - from + x] += static_cast<double>(map[i]) * kernel[(x + n - from) % n];
    }
  }
  std::vector<std::size_t> filled;
  for (std::size_t y = 0; y < height; ++y) {
    const auto row = std::span(map).subspan(y * width, width);
    if (std::ranges::any_of(row, [](float value) { return value != 0; })) filled.push_back(y);
  }
  parallel_for(
      size.height, threads,
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> sums(width);
        for (auto y = static_cast<std::size_t>(begin); y < static_cast<std::size_t>(end); ++y) {
          std::ranges::fill(sums, 0.0);
          for (const auto from : filled) {
            const double weight = kernel[(y + n - from) % n];
            const double* row = across.data() + from * width;
            for (std::size_t x = 0; x < width; ++x) sums[x] += weight * row[x];
          }
          for (std::size_t x = 0; x < width; ++x) {
            map[y * width + x] = static_cast<float>(sums[x]);
          }
        }
      },
      kBlurRowsAtOnce);
}

Image fixation_pixels(std::span<const Fixation> fixations, FrameSize size) {
  Image map{size.height, size.width, 1, {}};
  map.values.resize(map.size());
  for (const auto& [x, y] : fixations) {
    if (!(x >= 0 && y >= 0 && x < size.width && y < size.height)) continue;
    map.values[static_cast<std::size_t>(y) * map.row() + static_cast<std::size_t>(x)] = 1;
  }
  return map;
}

Image fixation_map(std::span<const Fixation> fixations, FrameSize size, const FixationBlur& blur,
                   const std::string& name, int threads) {
  auto map = fixation_pixels(fixations, size);
  check(std::ranges::find(map.values, 1.0F) != map.values.end(), ErrorKind::Input,
        "[data.fixations] {} has no fixation inside the picture; got {} of them, and a picture of "
        "{} x {} pixels.",
        name, fixations.size(), size.width, size.height);
  if (blur.cycles > 0) {
    fourier_blur(map.values, size, blur.cycles, threads);
  } else {
    gaussian_blur(std::span(map.values), size, blur.sigma, threads);
  }
  const auto [least, most] = std::ranges::minmax(map.values);
  const float scale = most > least ? 255 / (most - least) : 255 / most;
  const float low = most > least ? least : 0;
  for (auto& value : map.values) value = (value - low) * scale;
  return map;
}

}  // namespace ubique::data
