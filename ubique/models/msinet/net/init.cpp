// SPDX-License-Identifier: Apache-2.0
// Fresh weights. Every convolution has its own stream, numbered by its place, so that the bits
// depend on neither the device nor the order of work.
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
    // Pixels count to 255; the first kernels bring them to where Glorot's rule starts from.
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
