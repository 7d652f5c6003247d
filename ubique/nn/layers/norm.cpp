// SPDX-License-Identifier: Apache-2.0
// RMS norm and layer norm in terms of ATen.
#include "ubique/nn/layers/norm.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

namespace ubique::nn {
namespace {

at::Tensor widened(const at::Tensor& tensor, at::ScalarType dtype) {
  return tensor.defined() ? tensor.to(dtype) : tensor;
}

at::ScalarType norm_dtype(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

}  // namespace

at::ScalarType product_dtype(const at::Tensor& x) {
  const auto device = x.device().type();
  return at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                   : x.scalar_type();
}

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

at::Tensor added(const at::Tensor& residual, const kernels::Branch& branch) {
  if (!branch.value.defined()) return residual;
  return residual + (branch.bias.defined() ? branch.value + branch.bias : branch.value);
}

Normed add_norm(const at::Tensor& residual, const kernels::Branch& branch, const at::Tensor& weight,
                const at::Tensor& bias, const kernels::NormOptions& options) {
  const auto dtype = product_dtype(residual);
  if (weight.defined() && kernels::does_add_norm(residual, dtype)) {
    const auto [sum, normed] = kernels::add_norm(residual, branch, weight, bias, dtype, options);
    return {sum, normed};
  }
  const auto sum = added(residual, branch);
  if (options.center) return {sum, layer_norm(sum, weight, bias, options.epsilon)};
  const auto normed = rms_norm(sum, weight, options.epsilon);
  return {sum, bias.defined() ? normed + bias.to(normed.scalar_type()) : normed};
}

}  // namespace ubique::nn
