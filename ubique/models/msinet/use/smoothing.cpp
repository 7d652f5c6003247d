// SPDX-License-Identifier: Apache-2.0
// The exponential moving average.
#include "ubique/models/msinet/use/smoothing.h"

#include <ATen/ATen.h>

#include <cmath>

namespace ubique::msinet {

MapSmoother::MapSmoother(double seconds, double frames_per_second)
    : kept_(seconds > 0 ? std::exp(-1 / (seconds * frames_per_second)) : 0) {}

at::Tensor MapSmoother::next(const at::Tensor& map) {
  mean_ = mean_.defined() ? at::lerp(map, mean_, kept_) : map;
  return mean_;
}

}  // namespace ubique::msinet
