// SPDX-License-Identifier: Apache-2.0
// Palettes, blending, contours and peaks.
#include "ubique/models/msinet/use/heatmap.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/models/msinet/score/metric_samples.h"

namespace ubique::msinet {
namespace {

using samples::Map;

/// A hill at (30, 20) of 64 x 48, falling evenly with the distance.
Map<float> one_hill() {
  Map<float> map{{}, 64, 48};
  for (int y = 0; y < 48; ++y) {
    for (int x = 0; x < 64; ++x) {
      map.values.push_back(static_cast<float>(-std::hypot(x - 30, y - 20)));
    }
  }
  return map;
}

io::Picture flat_picture(int width, int height, int channels, std::uint8_t level) {
  return {width, height, channels,
          std::vector<std::uint8_t>(static_cast<std::size_t>(width * height * channels), level)};
}

Colour pixel_of(const io::Picture& picture, int x, int y) {
  const auto index = static_cast<std::size_t>(3 * (y * picture.width + x));
  return {picture.pixels[index], picture.pixels[index + 1], picture.pixels[index + 2]};
}

double brightness(const Colour& colour) {
  return 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2];
}

}  // namespace

TEST_CASE(
    "heatmap: inferno, viridis and grey grow brighter from end to end, jet goes blue to red") {
  for (const auto palette : {Palette::Inferno, Palette::Viridis, Palette::Grey}) {
    double last = -1;
    for (int i = 0; i <= 50; ++i) {
      const double next = brightness(palette_colour(palette, i / 50.0));
      CHECK(next > last);
      last = next;
    }
  }
  CHECK(palette_colour(Palette::Jet, 0) == Colour{0, 0, 128});
  CHECK(palette_colour(Palette::Jet, 1) == Colour{128, 0, 0});
  CHECK(palette_colour(Palette::Jet, 0.5)[1] == 255);
  CHECK(palette_colour(Palette::Grey, 7) == Colour{255, 255, 255});
  CHECK(palette_colour(Palette::Grey, -1) == Colour{0, 0, 0});
  CHECK(palette_colour(Palette::Grey, NAN) == Colour{0, 0, 0});
}

TEST_CASE("heatmap: palettes are found by name, and a misspelt one is an error") {
  CHECK(parse_palette("viridis") == Palette::Viridis);
  CHECK(parse_palette("grey") == Palette::Grey);
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage, [] { parse_palette("infernal"); }),
                       "inferno"));
}

TEST_CASE("heatmap: the lowest value gets the first colour, the highest the last") {
  const auto map = one_hill();
  const auto picture = colour_picture(map.measured(), Palette::Viridis);
  CHECK(picture.width == 64);
  CHECK(picture.channels == 3);
  CHECK(pixel_of(picture, 30, 20) == palette_colour(Palette::Viridis, 1));
  CHECK(pixel_of(picture, 63, 47) == palette_colour(Palette::Viridis, 0));
  const std::vector<float> flat(12, 5.F);
  const auto even = colour_picture(MeasuredMap<float>(flat, 4, 3), Palette::Inferno);
  CHECK(pixel_of(even, 3, 2) == palette_colour(Palette::Inferno, 0));
}

TEST_CASE("heatmap: laid over grey, RGB and RGBA images, and refused over another size") {
  const auto map = one_hill();
  HeatmapStyle style;
  style.alpha = 0.5;
  for (const int channels : {1, 3, 4}) {
    const auto picture = draw_heatmap(flat_picture(64, 48, channels, 100), map.measured(), style);
    CHECK(picture.channels == 3);
    CHECK(picture.pixels.size() == 64 * 48 * 3);
    const auto top = palette_colour(Palette::Inferno, 1);
    CHECK(pixel_of(picture, 30, 20)[0] == doctest::Approx((100 + top[0]) / 2.0).epsilon(0.01));
    CHECK(pixel_of(picture, 63, 47) == Colour{100, 100, 100});  // fades with the map
  }
  style.fade = false;
  const auto even = draw_heatmap(flat_picture(64, 48, 3, 100), map.measured(), style);
  CHECK(pixel_of(even, 63, 47)[0] == doctest::Approx(51).epsilon(0.02));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input,
                       [&] { draw_heatmap(flat_picture(48, 64, 3, 0), map.measured(), style); }),
      "got 64 x 48, expected 48 x 64"));
  style.alpha = 1.5;
  test::refusal_of(ErrorKind::Usage,
                   [&] { draw_heatmap(flat_picture(64, 48, 3, 0), map.measured(), style); });
  style.alpha = 1;
  style.contours = {2};
  test::refusal_of(ErrorKind::Usage,
                   [&] { draw_heatmap(flat_picture(64, 48, 3, 0), map.measured(), style); });
}

TEST_CASE("heatmap: a contour of a round hill is a closed circle of that radius") {
  const auto map = one_hill();
  auto picture = flat_picture(64, 48, 3, 0);
  draw_contour(picture, map.measured(), -10.0, {255, 255, 255});
  for (int y = 0; y < 48; ++y) {
    for (int x = 0; x < 64; ++x) {
      const double away = std::abs(std::hypot(x - 30, y - 20) - 10);
      CAPTURE(x);
      CAPTURE(y);
      if (away < 0.2) CHECK(pixel_of(picture, x, y)[0] > 230);
      if (away > 2.1) CHECK(pixel_of(picture, x, y)[0] == 0);
      if (away > 1.4) CHECK(pixel_of(picture, x, y)[0] <= 10);
    }
  }
  CHECK(std::any_of(picture.pixels.begin(), picture.pixels.end(),
                    [](std::uint8_t value) { return value > 0 && value < 255; }));  // smooth edges
}

TEST_CASE("heatmap: a white contour is seen on a white page, by its dark rim") {
  const auto map = one_hill();
  auto picture = flat_picture(64, 48, 3, 255);
  draw_contour(picture, map.measured(), -10.0, {255, 255, 255});
  CHECK(pixel_of(picture, 40, 20)[0] > 230);  // the line
  CHECK(pixel_of(picture, 41, 20)[0] < 230);
  CHECK(*std::ranges::min_element(picture.pixels) < 200);
}

TEST_CASE("heatmap: at a saddle the contour cuts off corners and does not cross itself") {
  Map<float> map{{}, 21, 21};
  for (int y = 0; y < 21; ++y) {
    for (int x = 0; x < 21; ++x) map.values.push_back((x <= 10) == (y <= 10) ? 1.F : 0.F);
  }
  for (const double level : {0.3, 0.7}) {
    auto picture = flat_picture(21, 21, 3, 0);
    draw_contour(picture, map.measured(), level, {255, 255, 255});
    const bool high_joined = level < 0.5;  // the middle, at 0.5, is above the level
    const double joined = pixel_of(picture, 10, 10)[0] + pixel_of(picture, 11, 11)[0];
    const double parted = pixel_of(picture, 11, 10)[0] + pixel_of(picture, 10, 11)[0];
    CHECK((high_joined ? parted > joined : joined > parted));
  }
}

TEST_CASE("heatmap: peaks come highest first and keep their distance") {
  Map<float> map{std::vector<float>(40 * 30), 40, 30};
  const auto put = [&](int x, int y, float value) {
    map.values[static_cast<std::size_t>(y * 40 + x)] = value;
  };
  put(5, 5, 3);
  put(7, 5, 2.9F);  // within the first one's disc
  put(30, 20, 2);
  put(39, 29, 1);
  const auto peaks = find_peaks(map.measured(), 10, 4);
  REQUIRE(peaks.size() == 3);  // what is left is the map's minimum
  CHECK(peaks[0].x == 5);
  CHECK(peaks[0].value == 3);
  CHECK(peaks[1].x == 30);
  CHECK(peaks[1].y == 20);
  CHECK(peaks[2].x == 39);
  CHECK(peaks[0].share == doctest::Approx((3 + 2.9) / 8.9));
  CHECK(peaks[1].share == doctest::Approx(2 / 8.9));
  CHECK(find_peaks(map.measured(), 2, 0).at(1).x == 7);
  CHECK(find_peaks(map.measured(), 5, 1e9).size() == 1);
  CHECK(find_peaks(map.measured(), 5, 1e9).front().share == doctest::Approx(1));
  CHECK(peak_distance(map.measured()) == 5);
  CHECK(find_peaks(map.measured(), 0, 4).empty());
  const std::vector<float> flat(12, 5.F);
  CHECK(find_peaks(MeasuredMap<float>(flat, 4, 3), 3, 1).empty());
  test::refusal_of(ErrorKind::Usage, [&] { find_peaks(map.measured(), -1, 4); });
}

TEST_CASE("heatmap: markers at the edge are cut off there, and change nothing else") {
  const auto map = one_hill();
  auto picture = flat_picture(64, 48, 3, 90);
  draw_peaks(picture, std::vector<Peak>{{0, 0, 1.F}, {63, 47, 1.F}});
  CHECK(pixel_of(picture, 6, 0) == Colour{255, 255, 255});
  CHECK(pixel_of(picture, 32, 24) == Colour{90, 90, 90});
  HeatmapStyle style;
  style.peaks = 3;
  style.contours = {0.5, 0.9};
  const auto with = draw_heatmap(flat_picture(64, 48, 3, 90), map.measured(), style);
  style.peaks = 0;
  style.contours.clear();
  CHECK(with.pixels != draw_heatmap(flat_picture(64, 48, 3, 90), map.measured(), style).pixels);
  const std::vector<float> one(1, 2.F);
  style.peaks = 2;
  style.contours = {0.5};
  const auto dot = draw_heatmap(flat_picture(1, 1, 1, 7), MeasuredMap<float>(one, 1, 1), style);
  CHECK(dot.pixels.size() == 3);
}

}  // namespace ubique::msinet
