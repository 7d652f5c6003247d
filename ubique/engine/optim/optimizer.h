// SPDX-License-Identifier: Apache-2.0
// The engine's optimizers by name, and what they share: moments, bias correction.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "ubique/engine/contract/optimizer.h"
#include "ubique/engine/contract/recipe.h"

namespace ubique::engine {

/// One of plan::optimizer_names(). `fused`: a single kernel for all parameters where the device has
/// one. Usage error with a "did you mean" for another name.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, NamedTensors parameters,
                                          bool fused);

/// adamw or adam_tf1, by the options' name.
std::unique_ptr<Optimizer> make_adamw(const OptimizerOptions& options, NamedTensors parameters,
                                      bool fused);
std::unique_ptr<Optimizer> make_sgd(const OptimizerOptions& options, NamedTensors parameters);
std::unique_ptr<Optimizer> make_adam_atan2(const OptimizerOptions& options, NamedTensors parameters,
                                           bool fused);

/// One tensor per parameter, of its shape and layout, saved as "KIND.NAME".
class Moments {
 public:
  Moments(std::string kind, const NamedTensors& parameters);
  std::vector<at::Tensor> of(const std::vector<std::size_t>& indices) const;
  void save(NamedTensors& state) const;
  void load(const NamedTensors& state);

 private:
  std::string kind_;
  NamedTensors tensors_;
};

/// The state of Adam's variants: running means of gradients and of their squares, and the number
/// of updates.
class AdamState {
 public:
  explicit AdamState(const NamedTensors& parameters);
  NamedTensors saved() const;
  /// Input error for a state that `optimizer` did not save.
  void load(const NamedTensors& state, const std::string& optimizer);

  Moments means, squares;
  at::Tensor step;  ///< f32 device scalar
};

/// values += weight * (targets - values); `weight` is a device scalar.
void lerp_all(std::vector<at::Tensor>& values, const std::vector<at::Tensor>& targets,
              const at::Tensor& weight);
/// 1 - beta^step without cancellation; `step` counts as at least 1, in case the first update was
/// skipped.
at::Tensor bias_correction(const at::Tensor& step, double beta);

}  // namespace ubique::engine
