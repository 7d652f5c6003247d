// SPDX-License-Identifier: Apache-2.0
// Times whole updates of a model through the engine's learner, on one batch that stays on the
// device.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <stdexcept>
#include <utility>

#include "bench/measure.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/loop/learner.h"
#include "ubique/engine/session/session.h"

namespace ubique::bench {

/// A model and a recipe; there is no data to ask for.
template <typename Model>
class UpdateTask final : public engine::Task {
 public:
  template <typename ModelConfig>
  UpdateTask(const ModelConfig& config, engine::Recipe recipe)
      : model_(config), recipe_(std::move(recipe)) {}
  engine::Model& model() override { return model_; }
  const engine::Dataset& training_set() override { throw std::logic_error("not asked for"); }
  const engine::Recipe& recipe() const override { return recipe_; }
  engine::Scores validate() override { return {}; }

 private:
  Model model_;
  engine::Recipe recipe_;
};

inline Measured time_updates(engine::Task& task, const engine::Session& session,
                             engine::Batch batch, int rounds, int pieces = 1) {
  const auto device = session.torch_device();
  task.model().initialize(Random(1));
  device::reset_peak(device);
  engine::move_network(task.model().network(), session.plan(), device);
  task.model().apply_plan(session.plan());
  engine::Learner learner(task, session.plan(), device, 100);
  for (auto& [name, tensor] : batch.tensors) tensor = tensor.to(device);
  std::int64_t step = 0;
  const auto update = [&] {
    learner.begin();
    learner.add(batch);
    learner.finish(step++);
  };
  const auto measured = measure(update, device, rounds, pieces);
  for (const auto& item : task.model().network().named_parameters()) {
    check(item.value().isfinite().all().item<bool>(), ErrorKind::Internal,
          "[bench.updates] {} is not finite, so the times mean nothing.", item.key());
  }
  return measured;
}

}  // namespace ubique::bench
