// SPDX-License-Identifier: Apache-2.0
// Weights of the resize methods. Positions are computed in float as in TensorFlow: where they fall
// on a pixel's edge, double would choose another neighbour.
#include "ubique/data/images/resize_taps.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ubique::data {
namespace {

constexpr int kBicubicSteps = 1024;

/// Keys' cubic kernel with a = -0.75 at distance x, for the two inner and the two outer neighbours.
/// In double, as the terms nearly cancel.
float inner_weight(double x) { return static_cast<float>((1.25 * x - 2.25) * x * x + 1); }
float outer_weight(double x) {
  x += 1;
  return static_cast<float>(((-0.75 * x + 3.75) * x - 6) * x + 3);
}

float axis_scale(int in, int out, ResizeMethod method) {
  const bool corners = method != ResizeMethod::Bilinear && out > 1;
  return corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                 : static_cast<float>(in) / static_cast<float>(out);
}

}  // namespace

AxisTaps::AxisTaps(int in, int out, ResizeMethod method) : in_(in) {
  const float scale = axis_scale(in, out, method);
  for (int i = 0; i < out; ++i) {
    switch (method) {
      case ResizeMethod::Area:
        add_area(i, scale);
        break;
      case ResizeMethod::Bicubic:
        add_bicubic(i, scale);
        break;
      case ResizeMethod::Bilinear:
        add_bilinear(i, scale);
        break;
    }
  }
}

/// Weights beyond the edge are added to the edge pixel.
void AxisTaps::add(int from, std::span<const float> weights) {
  const int first = std::clamp(from, 0, in_ - 1);
  const int last = std::clamp(from + static_cast<int>(weights.size()) - 1, first, in_ - 1);
  const auto base = weights_.size();
  weights_.resize(base + static_cast<std::size_t>(last - first) + 1);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const int source = std::clamp(from + static_cast<int>(k), first, last);
    weights_[base + static_cast<std::size_t>(source - first)] += weights[k];
  }
  first_.push_back(first);
  begin_.push_back(weights_.size());
}

void AxisTaps::add_area(int i, float scale) {
  constexpr float kWhole = 1;
  if (scale <= 0) return add(0, {&kWhole, 1});  // one source pixel, several outputs
  const float begin = static_cast<float>(i) * scale, end = static_cast<float>(i + 1) * scale;
  const int from = static_cast<int>(std::floor(begin)), to = static_cast<int>(std::ceil(end));
  scratch_.clear();
  for (int k = from; k < to; ++k) {
    const float low = std::max(static_cast<float>(k), begin);
    const float high = std::min(static_cast<float>(k + 1), end);
    scratch_.push_back((high - low) / scale);
  }
  add(from, scratch_);
}

void AxisTaps::add_bicubic(int i, float scale) {
  const float position = static_cast<float>(i) * scale;
  const float below = std::floor(position);
  const auto step = static_cast<double>(std::lrint((position - below) * kBicubicSteps));
  const double x = step / kBicubicSteps, rest = 1 - x;
  const std::array weights = {outer_weight(x), inner_weight(x), inner_weight(rest),
                              outer_weight(rest)};
  add(static_cast<int>(below) - 1, weights);
}

void AxisTaps::add_bilinear(int i, float scale) {
  const float position = (static_cast<float>(i) + 0.5F) * scale - 0.5F;
  const float below = std::floor(position);
  const std::array weights = {1 - (position - below), position - below};
  add(static_cast<int>(below), weights);
}

}  // namespace ubique::data
