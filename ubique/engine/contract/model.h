// SPDX-License-Identifier: Apache-2.0
// One configured network of a family, as the engine sees it: parameters under upstream's names, a
// training step, and what it needs of a machine.
#pragma once

#include <memory>
#include <string>

#include "ubique/base/numbers/random.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/plan/needs.h"
#include "ubique/plan/plan.h"

namespace torch::nn {
class Module;
}

namespace ubique::engine {

class Model {
 public:
  virtual ~Model() = default;
  virtual std::string family() const = 0;
  /// Everything that Family::build needs to make it again, and how its input is prepared.
  virtual Json config() const = 0;
  /// Its state-dict names are those of the original system.
  virtual torch::nn::Module& network() = 0;
  /// Fresh weights, the same on every device: made on the host from `random`.
  virtual void initialize(const Random& random) = 0;
  virtual plan::Needs needs() const = 0;
  /// Called once the network is on the plan's device: layouts, padding, recomputation, own kernels;
  /// called again with another plan if memory runs out. The state dict keeps its names and shapes.
  virtual void apply_plan(const plan::Plan& plan) = 0;
  /// Forward pass and loss of a batch on the device, in train mode, under the plan's autocast.
  virtual Step step(const Batch& batch) = 0;

  /// Tensors that pass from one update to the next beside the weights; the tensors themselves, made
  /// by apply_plan() and written in place. A checkpoint holds them.
  virtual NamedTensors persistent_state() { return {}; }
  /// Leaves beside the parameters that the steps since the last commit_state() gave gradients to,
  /// for the optimizer that the task brings.
  virtual NamedTensors extra_leaves() { return {}; }
  /// The update is made: what its steps left behind becomes the carry. `bad` is an f32 device
  /// scalar, 1 if the update was skipped.
  virtual void commit_state(const at::Tensor& /*bad*/) {}
  /// There will be no update: what its steps left behind is dropped.
  virtual void discard_state() {}

  /// Does it hold weights worth keeping? Set by whoever loads some; train() then makes none.
  bool initialized() const { return initialized_; }
  void set_initialized() { initialized_ = true; }

 private:
  bool initialized_ = false;
};

}  // namespace ubique::engine
