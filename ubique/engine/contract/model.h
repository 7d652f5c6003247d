// SPDX-License-Identifier: Apache-2.0
// One configured network of a family, as the engine sees it: parameters under the original system's
// names, a training step, and what it needs of a machine.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "ubique/base/numbers/random.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/plan/needs.h"
#include "ubique/plan/plan.h"

namespace torch::nn {
class Module;
}

namespace ubique::dist {
class World;
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
  /// Called when the network is on the plan's device: layouts, padding, gradient checkpointing, own
  /// kernels; called again with another plan after out-of-memory. The state dict keeps its names
  /// and shapes.
  virtual void apply_plan(const plan::Plan& plan) = 0;
  /// Forward pass and loss of a batch on the device, in train mode, under the plan's autocast.
  virtual Step step(const Batch& batch) = 0;

  /// Recurrent state beside the weights, kept from update to update and saved in checkpoints. Made
  /// by apply_plan() and written in place. A tensor with a row for each sample of an update is
  /// shared out among the ranks as the samples are.
  virtual NamedTensors persistent_state() { return {}; }
  /// What steps read beside parameters, persistent state and batch, made by the first step that
  /// needs it and replaced by longer ones: a recorded step keeps them.
  virtual std::vector<at::Tensor> tables() const { return {}; }
  /// Leaf tensors beside the parameters that received gradients since the last commit_state(), for
  /// the task's own optimizer.
  virtual NamedTensors extra_leaves() { return {}; }
  /// In a run of several processes, before the update: makes those leaves and their gradients the
  /// ones of all ranks, in the order of ranks.
  virtual void gather_leaves(const dist::World& /*world*/) {}
  /// After an update: what its steps computed becomes the persistent state. `bad` is an f32 device
  /// scalar, 1 if the update was skipped.
  virtual void commit_state(const at::Tensor& /*bad*/) {}
  /// The update was given up: what its steps computed is dropped.
  virtual void discard_state() {}

  /// Does it hold trained or imported weights? Set by whoever loads them; train() then keeps them.
  bool initialized() const { return initialized_; }
  void set_initialized() { initialized_ = true; }

  /// The checkpoint or folder it was opened from, beside which its tokenizer may lie; empty if
  /// none.
  const std::filesystem::path& origin() const { return origin_; }
  void set_origin(std::filesystem::path path) { origin_ = std::move(path); }

 private:
  bool initialized_ = false;
  std::filesystem::path origin_;
};

}  // namespace ubique::engine
