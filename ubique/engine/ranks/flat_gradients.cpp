// SPDX-License-Identifier: Apache-2.0
// Rows of numbers in the order of the parameters.
#include "ubique/engine/ranks/flat_gradients.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ubique::engine {

FlatGradients::FlatGradients(const NamedTensors& parameters) {
  for (const auto& [name, parameter] : parameters) {
    const auto dtype = parameter.scalar_type();
    auto group = std::ranges::find(groups_, dtype, &Group::dtype);
    if (group == groups_.end()) group = groups_.insert(groups_.end(), Group{dtype, {}, 0});
    group->members.push_back(parameters_.size());
    group->length += parameter.numel();
    parameters_.push_back(parameter);
  }
}

std::int64_t FlatGradients::bytes() const {
  std::int64_t sum = 0;
  for (const auto& parameter : parameters_) {
    sum += parameter.numel() * static_cast<std::int64_t>(parameter.element_size());
  }
  return sum;
}

std::string FlatGradients::present() const {
  std::string marks;
  for (const auto& parameter : parameters_) marks += parameter.grad().defined() ? '1' : '0';
  return marks;
}

std::vector<at::Tensor> FlatGradients::take() const {
  std::vector<at::Tensor> rows;
  for (const auto& group : groups_) {
    const auto& first = parameters_[group.members.front()];
    auto row = at::empty({group.length}, first.options().requires_grad(false));
    std::int64_t at = 0;
    for (const auto index : group.members) {
      const auto& parameter = parameters_[index];
      auto part = row.narrow(0, at, parameter.numel());
      at += parameter.numel();
      if (parameter.grad().defined()) {
        part.view(parameter.sizes()).copy_(parameter.grad());
      } else {
        part.zero_();
      }
      parameter.mutable_grad().reset();
    }
    rows.push_back(row);
  }
  return rows;
}

void FlatGradients::set(const std::vector<at::Tensor>& rows, const std::string& present) const {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    std::int64_t at = 0;
    for (const auto index : groups_[i].members) {
      const auto& parameter = parameters_[index];
      const auto part = rows[i].narrow(0, at, parameter.numel());
      at += parameter.numel();
      parameter.mutable_grad().reset();
      if (present[index] == '0') continue;
      // In the parameter's own layout, as the backward pass makes them.
      auto gradient = at::empty_like(parameter.detach());
      gradient.copy_(part.view(parameter.sizes()));
      parameter.mutable_grad() = gradient;
    }
  }
}

at::Tensor FlatGradients::empty_rows(std::size_t group) const {
  const auto& first = parameters_[groups_[group].members.front()];
  return at::empty({0, groups_[group].length}, first.options().requires_grad(false));
}

}  // namespace ubique::engine
