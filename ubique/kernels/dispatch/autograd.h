// SPDX-License-Identifier: Apache-2.0
// Helpers for ops with a hand-written backward (an autograd Node).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/function.h>

#include <memory>
#include <vector>

namespace ubique::kernels {

/// While alive, disables gradient recording and autocast: dtypes are what the code says.
class PlainTensors {
  at::NoGradGuard no_gradients_;
  c10::impl::ExcludeDispatchKeyGuard no_autocast_{c10::autocast_dispatch_keyset};
};

bool wants_gradient(const at::Tensor& tensor);  ///< and gradients are being recorded

/// Sets `node` as the grad_fn of `result`; its apply() returns one gradient for each of `inputs`.
void attach(at::Tensor& result, const std::shared_ptr<torch::autograd::Node>& node,
            const std::vector<at::Tensor>& inputs);
/// The same for several results.
void attach(std::vector<at::Tensor>& results, const std::shared_ptr<torch::autograd::Node>& node,
            const std::vector<at::Tensor>& inputs);

}  // namespace ubique::kernels
