// SPDX-License-Identifier: Apache-2.0
// Autograd's own hooks: one for each parameter, after it has added a gradient to the others.
#include "ubique/engine/ranks/gradient_hooks.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

namespace ubique::engine {
namespace {

struct Accumulated final : torch::autograd::PostAccumulateGradHook {
  Accumulated(std::size_t its_index, std::function<void(std::size_t)> to_call)
      : index(its_index), call(std::move(to_call)) {}
  void operator()(const at::Tensor& /*parameter*/) override { call(index); }

  std::size_t index;
  std::function<void(std::size_t)> call;
};

}  // namespace

GradientHooks::GradientHooks(NamedTensors parameters,
                             const std::function<void(std::size_t)>& accumulated)
    : parameters_(std::move(parameters)) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i].second,
                                                   std::make_unique<Accumulated>(i, accumulated));
  }
}

GradientHooks::~GradientHooks() {
  for (const auto& [name, parameter] : parameters_) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
  }
}

}  // namespace ubique::engine
