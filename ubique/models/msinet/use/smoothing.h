// SPDX-License-Identifier: Apache-2.0
// Maps of a video's frames without their flicker: each is a mean of itself and of those before it,
// whose weight falls to 1/e within some seconds, whatever the frame rate.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::msinet {

class MapSmoother {
 public:
  /// seconds 0: every map stays as it is.
  MapSmoother(double seconds, double frames_per_second);

  double kept() const { return kept_; }    ///< weight of what came before, 0 to 1
  at::Tensor next(const at::Tensor& map);  ///< (H, W); the first one comes back as it is

 private:
  double kept_;
  at::Tensor mean_;
};

}  // namespace ubique::msinet
