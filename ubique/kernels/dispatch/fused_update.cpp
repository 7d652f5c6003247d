// SPDX-License-Identifier: Apache-2.0
// Schema and caller of the fused AdamAtan2 update.
#include "ubique/kernels/dispatch/fused_update.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "ubique/kernels/dispatch/find_op.h"

namespace ubique::kernels::fused {
namespace {

bool no_adam_atan2(const at::Tensor&) { return false; }

using AdamAtan2Op = void(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                         at::TensorList, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                         double, double, double, double);

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_adam_atan2(Tensor weight) -> bool");
  library.def(
      "adam_atan2_(Tensor[] weights, Tensor[] gradients, Tensor[] means, Tensor[] squares, "
      "Tensor[] "
      "averages, Tensor lr, Tensor step, Tensor bad, float beta1, float beta2, float weight_decay, "
      "float average_share) -> ()");
  library.impl("does_adam_atan2", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_adam_atan2));
}

bool does_adam_atan2(const at::Tensor& weight) {
  static const auto op = find_op<bool(const at::Tensor&)>("ubique::does_adam_atan2");
  return op.call(weight);
}

void adam_atan2_(at::TensorList weights, at::TensorList gradients, at::TensorList means,
                 at::TensorList squares, at::TensorList averages, const at::Tensor& lr,
                 const at::Tensor& step, const at::Tensor& bad, const AdamAtan2Numbers& numbers) {
  static const auto op = find_op<AdamAtan2Op>("ubique::adam_atan2_");
  op.call(weights, gradients, means, squares, averages, lr, step, bad, numbers.beta1, numbers.beta2,
          numbers.weight_decay, numbers.average_share);
}

}  // namespace ubique::kernels::fused
