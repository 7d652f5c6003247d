// SPDX-License-Identifier: Apache-2.0
// Adam with an arc tangent in place of the division (Everett et al. 2024), so that there is no eps
// and a step does not depend on the gradients' scale: p -= lr / c1 * atan2(m, sqrt(v / c2)). c1 and
// c2 are the bias corrections of the moments; c1 is outside, as in the original's kernel. Weight
// decay is decoupled. A device flag skips an update.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/optim/ema.h"
#include "ubique/engine/optim/optimizer.h"
#include "ubique/kernels/dispatch/fused_update.h"

namespace ubique::engine {
namespace {

class AdamAtan2 final : public Optimizer {
 public:
  AdamAtan2(const OptimizerOptions& options, NamedTensors given, bool fused)
      : Optimizer(std::move(given)), options_(options), state_(parameters()) {
    const auto f32 = at::TensorOptions(at::kFloat).device(parameters().front().second.device());
    lr_ = at::zeros({}, f32);
    fused_ = fused;
    for (const auto& [name, weight] : parameters()) {
      fused_ = fused_ && kernels::fused::does_adam_atan2(weight.detach());
    }
  }

  bool take_averages(const AveragedWeights& averages) override {
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    const auto& kept = averages.averages();
    const bool takes = fused_ && std::equal(kept.begin(), kept.end(), parameters().begin(),
                                            parameters().end(), same);
    if (takes) averages_ = &averages;
    return takes;
  }

  void prepare(const Rates& rates) override {
    check(!rates.momentum, ErrorKind::Usage,
          "[engine.optimizer] adam_atan2 has no momentum that a schedule could cycle; got onecycle "
          "with cycle_momentum, expected it off.");
    lr_.fill_(rates.lr);
  }

  void step(const at::Tensor& bad) override {
    const c10::NoGradGuard no_gradients;
    const auto indices = with_gradient();
    if (indices.empty()) return;
    if (fused_) return step_fused(indices, bad);
    auto means = state_.means.of(indices), squares = state_.squares.of(indices);
    std::vector<at::Tensor> weights, gradients;
    const auto skip = bad.gt(0);
    for (const auto index : indices) {
      weights.push_back(parameters()[index].second);
      gradients.push_back(parameters()[index].second.grad().masked_fill_(skip, 0));
    }
    const auto made = 1 - bad;
    state_.step.add_(made);
    lerp_all(means, gradients, made * (1 - options_.beta1));
    at::_foreach_mul_(gradients, gradients);
    lerp_all(squares, gradients, made * (1 - options_.beta2));

    const auto lr = lr_ * made;
    if (options_.weight_decay != 0) {
      at::_foreach_mul_(weights, 1 - lr * options_.weight_decay);
    }
    auto change = at::_foreach_sqrt(squares);
    at::_foreach_div_(change, bias_correction(state_.step, options_.beta2).sqrt());
    for (std::size_t i = 0; i < change.size(); ++i) at::atan2_out(change[i], means[i], change[i]);
    at::_foreach_mul_(change, lr / bias_correction(state_.step, options_.beta1));
    at::_foreach_sub_(weights, change);
  }

  NamedTensors state() const override { return state_.saved(); }
  void load(const NamedTensors& state) override { state_.load(state, "adam_atan2"); }

 private:
  void step_fused(const std::vector<std::size_t>& indices, const at::Tensor& bad) {
    std::vector<at::Tensor> weights, gradients, averages;
    for (const auto index : indices) {
      weights.push_back(parameters()[index].second.detach());
      gradients.push_back(parameters()[index].second.grad());
      if (averages_ != nullptr) averages.push_back(averages_->averages()[index].second);
    }
    state_.step.add_(1 - bad);
    const double share = averages_ != nullptr ? 1 - averages_->decay() : 0;
    // Weights without a gradient do not change, but their averages still move towards them.
    for (std::size_t i = 0; share > 0 && i < parameters().size(); ++i) {
      const auto& weight = parameters()[i].second;
      if (!weight.grad().defined()) averages_->averages()[i].second.lerp_(weight.detach(), share);
    }
    kernels::fused::adam_atan2_(weights, gradients, state_.means.of(indices),
                                state_.squares.of(indices), averages, lr_, state_.step, bad,
                                {options_.beta1, options_.beta2, options_.weight_decay, share});
  }

  OptimizerOptions options_;
  bool fused_ = false;
  const AveragedWeights* averages_ = nullptr;
  AdamState state_;
  at::Tensor lr_;  // f32 device scalar
};

}  // namespace

std::unique_ptr<Optimizer> make_adam_atan2(const OptimizerOptions& options, NamedTensors parameters,
                                           bool fused) {
  return std::make_unique<AdamAtan2>(options, std::move(parameters), fused);
}

}  // namespace ubique::engine
