// SPDX-License-Identifier: Apache-2.0
// Geometry and colours of the overlay pictures.
#include "ubique/models/meshnet/use/overlay.h"

#include <doctest/doctest.h>

namespace ubique::meshnet {
namespace {

struct Sample {
  data::Volume scan;
  data::LabelMap labels;
};

/// A grey block in RAS axes with one labelled voxel at (2, 5, 7) of 8x12x16, 2x1x1 mm.
Sample labelled_block() {
  Sample sample;
  sample.scan.shape = {8, 12, 16};
  sample.scan.affine = {{{2, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  sample.scan.values.assign(8 * 12 * 16, 0.5F);
  sample.labels = {sample.scan.shape, sample.scan.affine,
                   std::vector<std::uint8_t>(sample.scan.values.size())};
  sample.labels.at(2, 5, 7) = 1;
  return sample;
}

/// Centre of the coloured pixels in columns left to right, as fractions of that part; negative if
/// there are none.
std::pair<double, double> coloured_centre(const io::Picture& picture, int left, int right) {
  double x_sum = 0, y_sum = 0, count = 0;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = left; x < right; ++x) {
      const auto* pixel = &picture.pixels[static_cast<std::size_t>(3 * (y * picture.width + x))];
      if (pixel[0] == pixel[1] && pixel[1] == pixel[2]) continue;
      x_sum += x - left + 0.5;
      y_sum += y + 0.5;
      ++count;
    }
  }
  if (count == 0) return {-1, -1};
  return {x_sum / count / (right - left), y_sum / count / picture.height};
}

}  // namespace

TEST_CASE("overlay: pixels are square in millimetres, planes side by side") {
  const auto sample = labelled_block();
  const auto picture = draw_overlay(sample.scan, sample.labels, {});
  // 16 x 12 x 16 mm: axial 256 x 192, coronal 256 x 256, sagittal 192 x 256, gaps of 8.
  CHECK(picture.width == 256 + 8 + 256 + 8 + 192);
  CHECK(picture.height == 256);
}

TEST_CASE("overlay: radiological view, whatever the axes of the file") {
  auto sample = labelled_block();
  const auto picture = draw_overlay(sample.scan, sample.labels, {});
  const auto [x, y] = coloured_centre(picture, 264, 520);  // coronal
  CHECK(x ==
        doctest::Approx(1 - 2.5 / 8).epsilon(0.02));  // low i is the patient's left: right side
  CHECK(y == doctest::Approx(1 - 7.5 / 16).epsilon(0.02));

  // The same block with the first axis stored the other way round.
  data::Volume scan = sample.scan;
  data::LabelMap labels = sample.labels;
  for (auto* affine : {&scan.affine, &labels.affine}) {
    (*affine)[0][0] = -2;
    (*affine)[0][3] = 14;
  }
  std::fill(labels.values.begin(), labels.values.end(), 0);
  labels.at(5, 5, 7) = 1;
  CHECK(draw_overlay(scan, labels, {}).pixels == picture.pixels);
}

TEST_CASE("overlay: without labels the middle is shown, in grey") {
  auto sample = labelled_block();
  std::fill(sample.labels.values.begin(), sample.labels.values.end(), 0);
  const auto picture = draw_overlay(sample.scan, sample.labels, {});
  CHECK(coloured_centre(picture, 0, picture.width).first < 0);
}

TEST_CASE("overlay: the truth adds a second row") {
  const auto sample = labelled_block();
  const auto picture = draw_overlay(sample.scan, sample.labels, {}, &sample.labels);
  CHECK(picture.height == 2 * 256 + 8);
}

TEST_CASE("overlay: colours of a model are used, others come from a palette without repeats") {
  auto sample = labelled_block();
  OverlayOptions options;
  options.labels = {{"background", {0, 0, 0}}, {"lesion", {0, 255, 0}}};
  options.alpha = 1;
  const auto picture = draw_overlay(sample.scan, sample.labels, options);
  bool green = false;
  for (std::size_t i = 0; i + 2 < picture.pixels.size(); i += 3) {
    green = green || (picture.pixels[i] == 0 && picture.pixels[i + 1] == 255);
  }
  CHECK(green);
  for (std::int64_t a = 1; a <= 32; ++a) {
    for (std::int64_t b = a + 1; b <= 32; ++b) CHECK(palette_colour(a) != palette_colour(b));
  }
}

}  // namespace ubique::meshnet
