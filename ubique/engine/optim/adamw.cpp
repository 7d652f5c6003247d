// SPDX-License-Identifier: Apache-2.0
// AdamW (Loshchilov and Hutter 2019), with decoupled weight decay, and TensorFlow 1's Adam, which
// adds eps to the root before bias correction. Torch's fused kernel where the device has one, else
// foreach ops over all parameters. Both skip an update by a device flag.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/GradMode.h>
#include <c10/core/TensorOptions.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/optim/optimizer.h"

namespace ubique::engine {
namespace {

using Tensors = std::vector<at::Tensor>;

/// Does this device have a kernel for the fused update?
bool has_fused_adamw(c10::Device device) {
  const auto schema = c10::Dispatcher::singleton().findSchema({"aten::_fused_adamw_", "tensor_lr"});
  const auto key = c10::computeDispatchKey(c10::kFloat, c10::kStrided, device);
  return schema && schema->hasKernelForDispatchKey(key);
}

/// A step count at which bias correction is 1: the fused kernel then adds eps to the uncorrected
/// root, as adam_tf1 does.
constexpr double kLateStep = 1e9;

struct Lists {
  Tensors weights, gradients, means, squares;
};

class AdamW final : public Optimizer {
 public:
  AdamW(const OptimizerOptions& options, NamedTensors given, bool fused)
      : Optimizer(std::move(given)),
        options_(options),
        tf1_(options.name == "adam_tf1"),
        state_(parameters()) {
    check(!tf1_ || options.weight_decay == 0, ErrorKind::Usage,
          "[engine.optimizer] adam_tf1 has no weight decay; got {}. adamw has it.",
          options.weight_decay);
    const auto device = parameters().front().second.device();
    fused_ = fused && has_fused_adamw(device);
    const auto f32 = at::TensorOptions(at::kFloat).device(device);
    late_ = at::full({}, kLateStep, f32);
    lr_ = at::zeros({}, f32);
  }

  void prepare(const Rates& rates) override {
    beta1_ = rates.momentum.value_or(options_.beta1);
    cycled_ = cycled_ || rates.momentum.has_value();
    host_lr_ = rates.lr;
    lr_.fill_(rates.lr);
  }

  bool capturable() const override { return !cycled_; }

  void step(const at::Tensor& bad) override {
    const c10::NoGradGuard no_gradients;
    auto indices = with_gradient();
    if (indices.empty()) return;
    state_.step.add_(1);
    state_.step.sub_(bad);
    auto undecayed = indices.end();
    if (options_.decay_matrices_only) {
      undecayed = std::stable_partition(indices.begin(), indices.end(), [this](std::size_t index) {
        return parameters()[index].second.dim() >= 2;
      });
    }
    step_group({indices.begin(), undecayed}, options_.weight_decay, bad);
    step_group({undecayed, indices.end()}, 0, bad);
  }

  NamedTensors state() const override { return state_.saved(); }
  void load(const NamedTensors& state) override { state_.load(state, "adamw"); }

 private:
  void step_group(const std::vector<std::size_t>& indices, double decay, const at::Tensor& bad) {
    if (indices.empty()) return;
    Lists lists{{}, {}, state_.means.of(indices), state_.squares.of(indices)};
    for (const auto index : indices) {
      lists.weights.push_back(parameters()[index].second);
      lists.gradients.push_back(parameters()[index].second.grad());
    }
    fused_ ? step_fused(lists, decay, bad) : step_plain(lists, decay, bad);
  }

  void step_fused(Lists& lists, double decay, const at::Tensor& bad) {
    // All parameters share one counter; a skipped update does not read it.
    const Tensors steps(lists.weights.size(), tf1_ ? late_ : state_.step);
    auto rate = lr_;
    if (tf1_) {
      rate = lr_ * bias_correction(state_.step, options_.beta2).sqrt() /
             bias_correction(state_.step, beta1_);
    }
    if (state_.step.is_cpu()) {  // takes lr as a double, without rounding to f32
      at::_fused_adamw_(lists.weights, lists.gradients, lists.means, lists.squares, {}, steps,
                        tf1_ ? rate.item<double>() : host_lr_, beta1_, options_.beta2, decay,
                        options_.eps, false, false, {}, bad);
    } else {
      at::_fused_adamw_(lists.weights, lists.gradients, lists.means, lists.squares, {}, steps, rate,
                        beta1_, options_.beta2, decay, options_.eps, false, false, {}, bad);
    }
  }

  void step_plain(Lists& lists, double decay, const at::Tensor& bad) {
    const auto skip = bad.gt(0);
    const auto unless_bad = [&](double value) {
      return at::where(skip, at::zeros_like(bad), at::full_like(bad, value));
    };
    for (auto& gradient : lists.gradients) gradient.masked_fill_(skip, 0);
    lerp_all(lists.means, lists.gradients, unless_bad(1 - beta1_));
    lerp_all(lists.squares, at::_foreach_mul(lists.gradients, lists.gradients),
             unless_bad(1 - options_.beta2));

    const auto correction1 = bias_correction(state_.step, beta1_);
    const auto correction2 = bias_correction(state_.step, options_.beta2).sqrt();
    const auto lr = at::where(skip, at::zeros_like(lr_), lr_);
    if (decay != 0) at::_foreach_mul_(lists.weights, 1 - lr * decay);
    auto change = at::_foreach_sqrt(lists.squares);
    if (!tf1_) at::_foreach_div_(change, correction2);
    at::_foreach_add_(change, options_.eps);
    change = at::_foreach_div(lists.means, change);
    at::_foreach_mul_(change, tf1_ ? lr * correction2 / correction1 : lr / correction1);
    at::_foreach_sub_(lists.weights, change);
  }

  OptimizerOptions options_;
  bool tf1_, fused_ = false, cycled_ = false;
  double beta1_ = options_.beta1, host_lr_ = 0;
  AdamState state_;
  at::Tensor lr_, late_;  // f32 device scalars
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(const OptimizerOptions& options, NamedTensors parameters,
                                      bool fused) {
  return std::make_unique<AdamW>(options, std::move(parameters), fused);
}

}  // namespace ubique::engine
