// SPDX-License-Identifier: Apache-2.0
// Exponential smoothing of a video's maps against flicker: the weight of earlier maps falls to 1/e
// within a given time, independent of the frame rate.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::msinet {

class MapSmoother {
 public:
  /// seconds 0: no smoothing.
  MapSmoother(double seconds, double frames_per_second);

  double kept() const { return kept_; }    ///< weight of the previous mean, 0 to 1
  at::Tensor next(const at::Tensor& map);  ///< (H, W); the first map is returned unchanged

 private:
  double kept_;
  at::Tensor mean_;
};

}  // namespace ubique::msinet
