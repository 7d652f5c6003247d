// SPDX-License-Identifier: Apache-2.0
// Weight initialisation. Every convolution draws from its own random stream, numbered by layer, so
// that the bits depend on neither the device nor the order of work.
#include <ATen/ATen.h>

#include <cmath>

#include "ubique/models/msinet/net/network.h"

namespace ubique::msinet {
namespace {

constexpr double kPixelDeviation = 60;

}  // namespace

void initialize(MsiNet& network, const Random& random) {
  const at::NoGradGuard no_gradients;
  std::uint64_t index = 0;
  for (const auto& item : network.named_parameters()) {
    auto target = item.value();
    if (target.dim() != 4) {
      target.zero_();
      continue;
    }
    const auto taps = target.size(2) * target.size(3);
    const auto fans = static_cast<double>(taps * (target.size(0) + target.size(1)));
    // Glorot's rule assumes inputs of unit variance; pixels range to 255, so the first kernels
    // scale.
    const double scale = index == 0 ? 1 / kPixelDeviation : 1;
    const auto bound = static_cast<float>(scale * std::sqrt(6 / fans));
    auto values = at::empty(target.sizes(), at::TensorOptions(at::kFloat));
    random.fork(index++).fill_uniform(
        {values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())}, -bound,
        bound);
    target.copy_(values);
  }
}

}  // namespace ubique::msinet
