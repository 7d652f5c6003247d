// SPDX-License-Identifier: Apache-2.0
// Median colour, distances, blur.
#include "ubique/models/msinet/score/metric_colour.h"

#include <array>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/data/images/blur.h"

namespace ubique::msinet {
namespace {

/// The lower median for an even count.
int median_of(const io::Picture& picture, std::size_t channel) {
  std::array<std::size_t, 256> counts{};
  for (std::size_t i = channel; i < picture.pixels.size(); i += 3) ++counts[picture.pixels[i]];
  const auto half = (picture.pixels.size() / 3 + 1) / 2;
  std::size_t below = 0;
  int value = 0;
  while ((below += counts[static_cast<std::size_t>(value)]) < half) ++value;
  return value;
}

}  // namespace

std::vector<float> colour_distance(const io::Picture& picture, double sigma) {
  const auto count =
      static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height);
  check(picture.channels == 3 && count > 0 && picture.pixels.size() == 3 * count,
        ErrorKind::Internal, "[msinet.colour] colours of a picture of {} channels; expected RGB.",
        picture.channels);
  const std::array<int, 3> median = {median_of(picture, 0), median_of(picture, 1),
                                     median_of(picture, 2)};
  std::vector<float> distances(count);
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double away = picture.pixels[3 * i + c] - median[c];
      sum += away * away;
    }
    distances[i] = static_cast<float>(std::sqrt(sum));
  }
  data::gaussian_blur(std::span(distances), {picture.height, picture.width}, sigma);
  return distances;
}

}  // namespace ubique::msinet
