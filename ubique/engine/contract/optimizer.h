// SPDX-License-Identifier: Apache-2.0
// The interface of an optimizer. All state is on the parameters' device and step() never waits for
// it; numbers that the host changes between updates reach the device through prepare(), so that
// step() can be recorded once and replayed. A family may bring its own (Task::make_optimizer).
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <utility>
#include <vector>

#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

class AveragedWeights;

/// What the schedule sets for one update.
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
  /// May a recorded step() be replayed after another prepare()? Not if it uses a number of the
  /// host: momentum that a schedule changes, or sgd's rate.
  virtual bool capturable() const { return true; }
  /// From now on step() also updates these averages; false if it leaves that to others.
  virtual bool take_averages(const AveragedWeights& /*averages*/) { return false; }
  /// In a run of several processes all of them call this before rank 0 asks for state(): one of
  /// which each has a part makes it whole there.
  virtual void collect_state() {}
  /// State under names that depend on no device: "exp_avg.NAME", "step".
  virtual NamedTensors state() const = 0;
  /// Input error for a state of other parameters.
  virtual void load(const NamedTensors& state) = 0;

  void zero_grad();
  const NamedTensors& parameters() const { return parameters_; }

 protected:
  /// Indices into parameters() of those that have a gradient now.
  std::vector<std::size_t> with_gradient() const;

 private:
  NamedTensors parameters_;
};

}  // namespace ubique::engine
