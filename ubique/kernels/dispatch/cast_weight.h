// SPDX-License-Identifier: Apache-2.0
// A weight stored in one dtype and used in another: cast once per step, however often it is used.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::kernels {

struct CastWeight {
  at::Tensor parameter;  ///< trained; gradients have its dtype
  at::Tensor value;      ///< the same in the compute dtype, detached

  CastWeight() = default;
  CastWeight(const at::Tensor& weight, at::ScalarType dtype);

  /// The value with gradient recording. Each use accumulates its gradient in the parameter's dtype,
  /// so that the sum over many uses is not rounded to the compute dtype.
  at::Tensor use() const;
  bool wants_gradient() const;
};

}  // namespace ubique::kernels
