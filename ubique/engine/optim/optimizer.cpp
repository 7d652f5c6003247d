// SPDX-License-Identifier: Apache-2.0
// Chooses an optimizer by name; zeroing gradients; the state of moments and step counters.
#include "ubique/engine/optim/optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <map>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/plan/needs.h"

namespace ubique::engine {

void Optimizer::zero_grad() {
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

std::vector<std::size_t> Optimizer::with_gradient() const {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].second.grad().defined()) indices.push_back(i);
  }
  return indices;
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, NamedTensors parameters,
                                          bool fused) {
  check(!parameters.empty(), ErrorKind::Usage,
        "[engine.optimizer] the network has no parameter to train; expected at least one that "
        "needs a gradient.");
  if (options.name == "adamw" || options.name == "adam_tf1") {
    return make_adamw(options, std::move(parameters), fused);
  }
  if (options.name == "adam_atan2") return make_adam_atan2(options, std::move(parameters), fused);
  if (options.name == "sgd") return make_sgd(options, std::move(parameters));
  const auto names = plan::optimizer_names();
  fail(ErrorKind::Usage, "[engine.optimizer] unknown optimizer; got '{}', expected one of {}.{}",
       options.name, join(names, ", "), hint(options.name, names));
}

Moments::Moments(std::string kind, const NamedTensors& parameters) : kind_(std::move(kind)) {
  for (const auto& [name, parameter] : parameters) {
    tensors_.emplace_back(name, at::zeros_like(parameter.detach()));
  }
}

std::vector<at::Tensor> Moments::of(const std::vector<std::size_t>& indices) const {
  std::vector<at::Tensor> list;
  list.reserve(indices.size());
  for (const auto index : indices) list.push_back(tensors_[index].second);
  return list;
}

void Moments::save(NamedTensors& state) const {
  for (const auto& [name, tensor] : tensors_) state.emplace_back(kind_ + "." + name, tensor);
}

void Moments::load(const NamedTensors& state) {
  const c10::NoGradGuard no_gradients;
  const std::map<std::string, at::Tensor> given(state.begin(), state.end());
  for (auto& [name, tensor] : tensors_) {
    const auto found = given.find(kind_ + "." + name);
    check(found != given.end() && found->second.sizes() == tensor.sizes() &&
              found->second.is_floating_point(),
          ErrorKind::Input,
          "[engine.optimizer] the saved state is of another optimizer or network; got no {}.{} of "
          "the right shape. Start with --model instead of resuming.",
          kind_, name);
    tensor.copy_(found->second);
  }
}

AdamState::AdamState(const NamedTensors& parameters)
    : means("exp_avg", parameters),
      squares("exp_avg_sq", parameters),
      step(at::zeros({},
                     at::TensorOptions(at::kFloat).device(parameters.front().second.device()))) {}

NamedTensors AdamState::saved() const {
  NamedTensors state = {{"step", step}};
  means.save(state);
  squares.save(state);
  return state;
}

void AdamState::load(const NamedTensors& state, const std::string& optimizer) {
  const auto counter = find_tensor(state, "step");
  check(counter.defined() && counter.numel() == 1, ErrorKind::Input,
        "[engine.optimizer] the saved state is not {}'s; got no step counter. Start with --model "
        "instead of resuming.",
        optimizer);
  // A counter that is not finite, or too large for f32, would make every later update useless.
  constexpr double kMostSteps = 1e15;
  const double count = counter.is_complex() ? -1 : counter.item<double>();
  check(count >= 0 && count <= kMostSteps, ErrorKind::Input,
        "[engine.resume] the saved state of {} has a wrong 'step'; got {}, expected a number from "
        "0 to {:.0e}. Start with --model instead of resuming.",
        optimizer, count, kMostSteps);
  step.fill_(count);
  means.load(state);
  squares.load(state);
}

void lerp_all(std::vector<at::Tensor>& values, const std::vector<at::Tensor>& targets,
              const at::Tensor& weight) {
  auto change = at::_foreach_sub(targets, values);
  at::_foreach_mul_(change, weight);
  at::_foreach_add_(values, change);
}

at::Tensor bias_correction(const at::Tensor& step, double beta) {
  return step.clamp_min(1).mul(std::log(beta)).expm1().neg();
}

}  // namespace ubique::engine
