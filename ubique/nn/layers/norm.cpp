// SPDX-License-Identifier: Apache-2.0
// RMS norm and layer norm in terms of ATen.
#include "ubique/nn/layers/norm.h"

#include <ATen/ATen.h>

namespace ubique::nn {
namespace {

at::Tensor widened(const at::Tensor& tensor, at::ScalarType dtype) {
  return tensor.defined() ? tensor.to(dtype) : tensor;
}

at::ScalarType norm_dtype(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const auto wide = x.to(norm_dtype(x));
  auto normed = wide * (wide.square().mean(-1, true) + eps).rsqrt();
  if (weight.defined()) normed = normed * widened(weight, wide.scalar_type());
  return normed.to(x.scalar_type());
}

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      double eps) {
  const auto dtype = norm_dtype(x);
  return at::layer_norm(x.to(dtype), {x.size(-1)}, widened(weight, dtype), widened(bias, dtype),
                        eps)
      .to(x.scalar_type());
}

}  // namespace ubique::nn
