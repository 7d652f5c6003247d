// SPDX-License-Identifier: Apache-2.0
// From gradients to new weights. All state is on the parameters' device and a step never waits for
// it; what the host changes from update to update comes to the device by prepare(), so that step()
// can be recorded once and played again. A family may bring an optimizer of its own
// (Task::make_optimizer).
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ubique/engine/contract/batch.h"
#include "ubique/engine/contract/recipe.h"

namespace ubique::engine {

class AveragedWeights;

/// What a schedule says for one update.
struct Rates {
  double lr = 0;
  std::optional<double> momentum;  ///< instead of beta1 or momentum; none = as the options say
};

class Optimizer {
 public:
  explicit Optimizer(NamedTensors parameters) : parameters_(std::move(parameters)) {}
  virtual ~Optimizer() = default;

  /// The host's numbers for the next step(), put on the device.
  virtual void prepare(const Rates& rates) = 0;
  /// One update from the gradients, which it may overwrite; parameters without one stay as they
  /// are. `bad` is an f32 device scalar: where it is 1 nothing changes, whatever the gradients are.
  virtual void step(const at::Tensor& bad) = 0;
  /// May a recorded step() be played again after another prepare()? Not where a number of the host
  /// goes into it: momentum that a schedule changes, and sgd's rate.
  virtual bool capturable() const { return true; }
  /// From now on step() also updates these averages; false if it leaves that to others.
  virtual bool take_averages(const AveragedWeights& /*averages*/) { return false; }
  /// State under names that depend on no device: "exp_avg.NAME", "step".
  virtual NamedTensors state() const = 0;
  /// Input error for a state of other parameters.
  virtual void load(const NamedTensors& state) = 0;

  void zero_grad();
  const NamedTensors& parameters() const { return parameters_; }

 protected:
  /// Parameters that have a gradient now, by their places in parameters().
  std::vector<std::size_t> with_gradient() const;

 private:
  NamedTensors parameters_;
};

/// adamw, adam_tf1, adam_atan2 or sgd. `fused`: one kernel for all where the device has it. Usage
/// error with a "did you mean" for another name.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, NamedTensors parameters,
                                          bool fused);

/// adamw and adam_tf1, by the options' name.
std::unique_ptr<Optimizer> make_adamw(const OptimizerOptions& options, NamedTensors parameters,
                                      bool fused);
std::unique_ptr<Optimizer> make_sgd(const OptimizerOptions& options, NamedTensors parameters);
std::unique_ptr<Optimizer> make_adam_atan2(const OptimizerOptions& options, NamedTensors parameters,
                                           bool fused);

/// One tensor per parameter, of its shape and layout, under "KIND.NAME" in a state.
class Moments {
 public:
  Moments(std::string kind, const NamedTensors& parameters);
  std::vector<at::Tensor> of(const std::vector<std::size_t>& places) const;
  void save(NamedTensors& state) const;
  void load(const NamedTensors& state);

 private:
  std::string kind_;
  NamedTensors tensors_;
};

/// What the Adams keep: the means of gradients and of their squares, and how many updates there
/// were.
class AdamState {
 public:
  explicit AdamState(const NamedTensors& parameters);
  NamedTensors saved() const;
  /// Input error for what `optimizer` did not save.
  void load(const NamedTensors& state, const std::string& optimizer);

  Moments means, squares;
  at::Tensor step;  ///< f32 device scalar
};

/// values += share * (targets - values); `share` is a device scalar.
void move_towards(std::vector<at::Tensor>& values, const std::vector<at::Tensor>& targets,
                  const at::Tensor& share);
/// 1 - beta^step without cancellation; at least one step, for a first update that is skipped.
at::Tensor bias_correction(const at::Tensor& step, double beta);

}  // namespace ubique::engine
