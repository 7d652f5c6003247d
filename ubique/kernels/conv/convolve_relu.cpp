// SPDX-License-Identifier: Apache-2.0
// Schema, reference and caller of ubique::convolve_relu.
#include "ubique/kernels/conv/convolve_relu.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "ubique/kernels/dispatch/find_op.h"

namespace ubique::kernels {
namespace {

/// Used by every device without its own kernel.
at::Tensor reference_convolve_relu(const at::Tensor& x, const at::Tensor& weight,
                                   const std::optional<at::Tensor>& bias, at::IntArrayRef padding,
                                   std::int64_t dilation) {
  const auto extents = padding.size();
  const std::vector<std::int64_t> ones(extents, 1), zeros(extents, 0), dilations(extents, dilation);
  // Vendor kernels for dilated half-precision convolutions are several times slower with a bias.
  const bool apart = bias && at::isReducedFloatingType(x.scalar_type());
  auto y = at::convolution(x, weight, apart ? std::nullopt : bias, ones, padding, dilations, false,
                           zeros, 1);
  if (apart) {
    std::vector<std::int64_t> channels(extents + 2, 1);
    channels[1] = -1;
    y.add_(bias->view(channels));
  }
  return y.relu_();
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def(
      "convolve_relu(Tensor x, Tensor weight, Tensor? bias, int[] padding, int dilation) -> "
      "Tensor");
  library.impl("convolve_relu", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(reference_convolve_relu));
}

at::Tensor convolve_relu(const at::Tensor& x, const at::Tensor& weight,
                         const std::optional<at::Tensor>& bias, at::IntArrayRef padding,
                         std::int64_t dilation) {
  static const auto op = find_op<decltype(convolve_relu)>("ubique::convolve_relu");
  return op.call(x, weight, bias, padding, dilation);
}

}  // namespace ubique::kernels
