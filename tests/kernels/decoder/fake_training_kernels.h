// SPDX-License-Identifier: Apache-2.0
// While one of these lives, the CPU has the kernels of a training step (add_norm.h, wide_product.h,
// gelu_mlp.h, head_product.h), in plain ops.
#pragma once

namespace ubique::test {

struct FakeTrainingKernels {
  explicit FakeTrainingKernels(bool norms = true);  ///< also add_norm
  ~FakeTrainingKernels();
  /// So far: products with f32 sums, GELUs computed again, norms, joined gradients of heads.
  struct Calls {
    int products = 0, again = 0, norms = 0, joined = 0;
  };
  static Calls calls();
};

}  // namespace ubique::test
