// SPDX-License-Identifier: Apache-2.0
// The source rows (or columns) of each output row, and their weights.
#pragma once

#include <span>
#include <vector>

#include "ubique/data/images/resize.h"

namespace ubique::data {

/// One axis: output[i] = sum over k of weights(i)[k] * source[first(i) + k], always in range.
class AxisTaps {
 public:
  AxisTaps(int in, int out, ResizeMethod method);

  int first(int i) const { return first_[static_cast<std::size_t>(i)]; }
  std::span<const float> weights(int i) const {
    const auto begin = begin_[static_cast<std::size_t>(i)];
    return std::span(weights_).subspan(begin, begin_[static_cast<std::size_t>(i) + 1] - begin);
  }

 private:
  void add_area(int i, float scale);
  void add_bicubic(int i, float scale);
  void add_bilinear(int i, float scale);
  void add(int from, std::span<const float> weights);

  int in_;
  std::vector<int> first_;
  std::vector<std::size_t> begin_ = {0};
  std::vector<float> weights_, scratch_;
};

}  // namespace ubique::data
