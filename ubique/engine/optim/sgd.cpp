// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent with momentum, optionally Nesterov's; weight decay is added to the
// gradient. A device flag skips an update.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "ubique/engine/optim/optimizer.h"

namespace ubique::engine {
namespace {

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerOptions& options, NamedTensors given)
      : Optimizer(std::move(given)),
        options_(options),
        velocities_("momentum", options.momentum > 0 ? parameters() : NamedTensors{}) {}

  void prepare(const Rates& rates) override { rates_ = rates; }
  bool capturable() const override { return false; }

  void step(const at::Tensor& bad) override {
    const c10::NoGradGuard no_gradients;
    const auto indices = with_gradient();
    if (indices.empty()) return;
    std::vector<at::Tensor> weights, gradients;
    for (const auto index : indices) {
      weights.push_back(parameters()[index].second);
      gradients.push_back(parameters()[index].second.grad());
    }
    const auto skip = bad.gt(0);
    const auto choose = [&](double if_bad, double otherwise) {
      return at::where(skip, at::full_like(bad, if_bad), at::full_like(bad, otherwise));
    };
    for (auto& gradient : gradients) gradient.masked_fill_(skip, 0);
    if (options_.weight_decay != 0) at::_foreach_add_(gradients, weights, options_.weight_decay);
    if (options_.momentum > 0) {
      const double momentum = rates_.momentum.value_or(options_.momentum);
      auto velocities = velocities_.of(indices);
      at::_foreach_mul_(velocities, choose(1, momentum));
      if (options_.weight_decay != 0) at::_foreach_mul_(gradients, choose(0, 1));
      at::_foreach_add_(velocities, gradients);
      gradients = options_.nesterov ? at::_foreach_add(gradients, velocities, momentum)
                                    : std::move(velocities);
    }
    at::_foreach_sub_(weights, at::_foreach_mul(gradients, choose(0, rates_.lr)));
  }

  NamedTensors state() const override {
    NamedTensors state;
    velocities_.save(state);
    return state;
  }

  void load(const NamedTensors& state) override { velocities_.load(state); }

 private:
  OptimizerOptions options_;
  Rates rates_;
  Moments velocities_;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(const OptimizerOptions& options, NamedTensors parameters) {
  return std::make_unique<Sgd>(options, std::move(parameters));
}

}  // namespace ubique::engine
