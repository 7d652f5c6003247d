// SPDX-License-Identifier: Apache-2.0
// Gaussian and Fourier blurs against SciPy and their definitions; fixation maps.
#include "ubique/data/images/blur.h"

#include <algorithm>
#include <complex>
#include <numbers>
#include <numeric>

#include "goldens.h"
#include "tests/base/scratch.h"

using namespace ubique;
using data::Fixation;

namespace {

/// By the definition: zero-padded to side x side, a plain discrete Fourier transform.
std::vector<double> fourier_low_pass(const std::vector<float>& map, data::FrameSize size, int side,
                                     double cycles) {
  using Complex = std::complex<double>;
  const auto wave = [&](int u, int v, int x, int y) {
    return std::polar(1.0, 2 * std::numbers::pi * (u * x + v * y) / side);
  };
  std::vector<double> result(map.size());
  for (int u = -side / 2; u < side / 2; ++u) {
    for (int v = -side / 2; v < side / 2; ++v) {
      Complex amplitude = 0;
      for (int i = 0; i < size.height * size.width; ++i) {
        amplitude +=
            double(map[std::size_t(i)]) * std::conj(wave(u, v, i % size.width, i / size.width));
      }
      const double sigma = cycles / std::sqrt(std::log(2.0));
      amplitude *= std::exp(-(u * u + v * v) / (sigma * sigma)) / (side * side);
      for (int i = 0; i < size.height * size.width; ++i) {
        result[std::size_t(i)] += (amplitude * wave(u, v, i % size.width, i / size.width)).real();
      }
    }
  }
  return result;
}

/// The definition: every pixel, every neighbour.
std::vector<double> slow_blur(const std::vector<double>& map, int height, int width, double sigma) {
  const int radius = static_cast<int>(4 * sigma + 0.5);
  const auto fold = [](int i, int n) {
    while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return i;
  };
  double total = 0;
  for (int k = -radius; k <= radius; ++k) total += std::exp(-0.5 * k * k / (sigma * sigma));
  std::vector<double> out(map.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int dy = -radius; dy <= radius; ++dy) {
        for (int dx = -radius; dx <= radius; ++dx) {
          sum += std::exp(-0.5 * (dy * dy + dx * dx) / (sigma * sigma)) *
                 map[static_cast<std::size_t>(fold(y + dy, height) * width + fold(x + dx, width))];
        }
      }
      out[static_cast<std::size_t>(y * width + x)] = sum / (total * total);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("blur: fixation maps are SciPy's") {
  const auto folder = test::shared_folder("golden/msinet/metrics");
  if (folder.empty()) return;
  const io::SafetensorsFile file(folder / "metrics.safetensors");
  for (const auto* image : {"0", "1", "2", "3", "4"}) {
    CAPTURE(image);
    const std::string name(image);
    const auto* blurred = file.find(name + "/blurred");
    const auto* points = file.find(name + "/points_xy");
    REQUIRE((blurred != nullptr && points != nullptr));
    const data::FrameSize size{static_cast<int>(blurred->shape[0]),
                               static_cast<int>(blurred->shape[1])};
    std::vector<double> map(static_cast<std::size_t>(size.height * size.width));
    std::vector<Fixation> fixations;
    const auto add = [&](const auto& values) {
      for (std::size_t i = 0; i < values.size(); i += 2) {
        fixations.push_back({static_cast<double>(values[i]), static_cast<double>(values[i + 1])});
      }
    };
    if (points->dtype == DType::I32) add(test::golden_values<std::int32_t>(file, points->name));
    if (points->dtype == DType::I64) add(test::golden_values<std::int64_t>(file, points->name));
    REQUIRE(!fixations.empty());
    const auto pixels = data::fixation_pixels(fixations, size);
    map.assign(pixels.values.begin(), pixels.values.end());
    data::gaussian_blur(std::span(map), size, 2.5);
    if (blurred->dtype == DType::F64) {
      CHECK(test::largest_difference(map, test::golden_values<double>(file, blurred->name)) <
            1e-15);
    } else {
      CHECK(test::largest_difference(map, test::golden_values<float>(file, blurred->name)) < 1e-7);
    }
    auto floats = pixels.values;
    data::gaussian_blur(std::span(floats), size, 2.5);
    CHECK(test::largest_difference(floats, map) < 1e-6);
  }
}

TEST_CASE("blur: equals its definition, also where it reaches far beyond the map") {
  for (const auto& [height, width, sigma] :
       {std::tuple(9, 14, 1.3), {3, 5, 2.5}, {1, 1, 3.0}, {1, 7, 0.1}, {4, 2, 4.0}}) {
    const auto image = test::wavy(height, width, 1);
    std::vector<double> map(image.values.begin(), image.values.end());
    const auto want = slow_blur(map, height, width, sigma);
    data::gaussian_blur(std::span(map), {height, width}, sigma, 3);
    CHECK(test::largest_difference(map, want) < 1e-11);
  }
}

TEST_CASE("blur: keeps the sum") {
  std::vector<double> map(40 * 30);
  map[7] = 2;
  map[1199] = 1;
  data::gaussian_blur(std::span(map), {30, 40}, 5.0);
  CHECK(std::accumulate(map.begin(), map.end(), 0.0) == doctest::Approx(3).epsilon(1e-12));
}

TEST_CASE("blur: an invalid sigma is refused") {
  std::vector<float> map(4);
  for (const double sigma : {0.0, -1.0, std::nan("")}) {
    CHECK(test::error_of([&] {
            data::gaussian_blur(std::span(map), {2, 2}, sigma);
          }).starts_with("internal: [data.blur]"));
  }
}

TEST_CASE("blur: MIT's Fourier blur equals the transform, the filter and the transform back") {
  const data::FrameSize size{5, 7};  // in a square of 8
  std::vector<float> map(35);
  map[0] = 1;
  map[2 * 7 + 6] = 1;
  map[4 * 7 + 3] = 2;
  const auto want = fourier_low_pass(map, size, 8, 1.5);
  auto got = map;
  data::fourier_blur(got, size, 1.5, 2);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-6));
  }
  std::vector<float> corner(35);
  corner[0] = 1;
  data::fourier_blur(corner, size, 1.5);
  CHECK(corner[6] == doctest::Approx(corner[2]));  // the square of 8 wraps around
}

TEST_CASE("blur: at 8 cycles half of the amplitude of 8 cycles is left") {
  constexpr int kSide = 128;
  std::vector<float> map(kSide * kSide);
  for (int i = 0; i < kSide * kSide; ++i) {
    map[std::size_t(i)] =
        static_cast<float>(std::cos(2 * std::numbers::pi * 8 * (i % kSide) / kSide));
  }
  data::fourier_blur(map, {kSide, kSide}, data::kMitCycles);
  CHECK(map[0] == doctest::Approx(0.5).epsilon(1e-4));
  std::vector<float> wrong(3);
  CHECK(test::error_of([&] { data::fourier_blur(wrong, {2, 2}, 8); }).starts_with("internal: "));
  CHECK(test::error_of([&] {
          data::fourier_blur(map, {kSide, kSide}, 0);
        }).starts_with("internal: "));
}

TEST_CASE("fixations: a map by Fourier blur is about that of a sigma of n / 42.7") {
  const std::vector<Fixation> places = {{60, 64}, {64, 70}};
  const auto one = data::fixation_map(places, {128, 128}, {.cycles = data::kMitCycles}, "x");
  const auto other = data::fixation_map(places, {128, 128}, {.sigma = 128 / 42.7}, "x");
  double most = 0;
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    most = std::max(most, double(std::abs(one.values[i] - other.values[i])));
  }
  CHECK(most < 1);
}

TEST_CASE("fixations: truncated to pixels, counted once, ignored beyond the edge") {
  const std::vector<Fixation> places = {{1.9, 0.2}, {1, 0}, {-0.5, 0}, {3, 0}, {0, 1.99}, {0, 2}};
  const auto map = data::fixation_pixels(places, {2, 3});
  CHECK(map.values == std::vector<float>{0, 1, 0, 1, 0, 0});
}

TEST_CASE("fixations: maps reach from 0 to 255") {
  const std::vector<Fixation> places = {{3, 4}};
  const auto map = data::fixation_map(places, {20, 30}, {2}, "x");
  const auto [least, most] = std::ranges::minmax(map.values);
  CHECK(least == 0);
  CHECK(most == doctest::Approx(255));
  CHECK(map.values[4 * 30 + 3] == most);
  CHECK(data::fixation_map(std::vector<Fixation>{{0, 0}}, {1, 1}, {2}, "x").values[0] ==
        doctest::Approx(255));
}

TEST_CASE("fixations: none at all, or none inside, is an error that names the picture") {
  const std::vector<Fixation> none, outside = {{-1, 5}, {500, 500}};
  CHECK(test::contains(test::error_of([&] {
                         data::fixation_map(none, {5, 5}, {2}, "a.png");
                       }),
                       "input: [data.fixations] a.png has no fixation inside"));
  CHECK(test::contains(test::error_of([&] {
                         data::fixation_map(outside, {5, 5}, {2}, "a.png");
                       }),
                       "got 2 of them"));
}
