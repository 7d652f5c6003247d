// SPDX-License-Identifier: Apache-2.0
// A weight that is kept in one dtype and used in another: cast once, however often it is used.
#pragma once

#include <ATen/core/Tensor.h>

namespace ubique::kernels {

struct CastWeight {
  at::Tensor parameter;  ///< what learns; its gradients are of its own dtype
  at::Tensor value;      ///< the same in the dtype to compute in, without gradient

  CastWeight() = default;
  CastWeight(const at::Tensor& weight, at::ScalarType dtype);

  /// The value as an ordinary tensor of autograd's: each use adds its gradient in the parameter's
  /// dtype, so that many uses do not round their sum.
  at::Tensor use() const;
  bool wants_gradient() const;
};

}  // namespace ubique::kernels
