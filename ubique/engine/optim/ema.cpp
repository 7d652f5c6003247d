// SPDX-License-Identifier: Apache-2.0
// Updates, swaps and loads the averages.
#include "ubique/engine/optim/ema.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/state_dict.h"

namespace ubique::engine {
namespace {

std::vector<at::Tensor> values_of(const NamedTensors& named) {
  std::vector<at::Tensor> list;
  list.reserve(named.size());
  for (const auto& [name, tensor] : named) list.push_back(tensor);
  return list;
}

}  // namespace

AveragedWeights::AveragedWeights(const NamedTensors& parameters, double decay) : decay_(decay) {
  if (decay <= 0) return;
  parameters_ = parameters;
  for (const auto& [name, parameter] : parameters) {
    averages_.emplace_back(name, parameter.detach().clone());
  }
}

void AveragedWeights::update() {
  if (!enabled()) return;
  const c10::NoGradGuard no_gradients;
  at::_foreach_lerp_(values_of(averages_), values_of(parameters_), 1 - decay_);
}

void AveragedWeights::exchange() {
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    auto& parameter = parameters_[i].second;
    auto weights = parameter.detach();  // shares the storage, which the parameter then releases
    parameter.set_data(averages_[i].second);
    averages_[i].second = weights;
  }
}

void AveragedWeights::load(const NamedTensors& averages) {
  const c10::NoGradGuard no_gradients;
  for (auto& [name, average] : averages_) {
    const auto saved = find_tensor(averages, name);
    check(saved.defined() && saved.sizes() == average.sizes(), ErrorKind::Input,
          "[engine.ema] the saved averages are of another network; got no {} of the right shape.",
          name);
    average.copy_(saved);
  }
}

}  // namespace ubique::engine
