// SPDX-License-Identifier: Apache-2.0
// Mean subtraction: a fused kernel where the device has one, else one channel at a time.
#include "ubique/models/msinet/net/preprocess.h"

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/fused_conv.h"

namespace ubique::msinet {

at::Tensor subtract_means(const at::Tensor& image, const Preprocessing& how, at::ScalarType dtype,
                          at::MemoryFormat format) {
  const kernels::PlainTensors plain;
  if (format == at::MemoryFormat::ChannelsLast && dtype != at::kDouble &&
      kernels::fused::has_image_kernels(image)) {
    return kernels::fused::subtract_means(image, how.means, dtype);
  }
  const auto pixels = dtype == at::kDouble ? image.to(at::kDouble) : image;
  auto result = at::empty(image.sizes(), image.options().dtype(dtype).memory_format(format));
  for (std::size_t c = 0; c < how.means.size(); ++c) {
    const auto channel = static_cast<std::int64_t>(c);
    auto plane = result.select(1, channel);
    at::sub_out(plane, pixels.select(1, channel), at::native::wrapped_scalar_tensor(how.means[c]));
  }
  return result;
}

}  // namespace ubique::msinet
