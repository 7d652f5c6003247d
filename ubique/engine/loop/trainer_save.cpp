// SPDX-License-Identifier: Apache-2.0
// What a run leaves on disk to go on from.
#include <fmt/format.h>

#include "ubique/base/terminal/log.h"
#include "ubique/engine/loop/trainer_run.h"
#include "ubique/plan/report.h"

namespace ubique::engine {

Checkpoint TrainingRun::checkpoint(const UpdateFacts* before) {
  state_.epoch_loss = epoch_mean_->mean();
  state_.epoch_weight = epoch_mean_->weight();
  Checkpoint made;
  made.family = model_.family();
  made.config = model_.config();
  made.provenance = task_.provenance();
  made.provenance["data"] = fingerprint_;
  made.provenance["plan"] = plan::to_json(plan_);
  made.epoch = state_.open_epoch() + 1;
  made.step = state_.step;
  made.scores = state_.scores;
  auto state = state_;
  state.seconds = seconds();
  made.trainer_state = to_json(state);
  before != nullptr ? learner_->save_before(made, *before) : learner_->save(made);
  return made;
}

void TrainingRun::save(const std::string& name) {
  folder_.save(checkpoint(), name, recipe_.keep);
  task_.checkpoint_saved(options_.folder);
  save_time_ = Clock::now();
}

/// A checkpoint that stands before the update just made, with the batches of it.
std::filesystem::path TrainingRun::dump_update(const UpdateFacts& facts) {
  const auto after = state_;
  --state_.step;
  --state_.open_updates;
  if (state_.cursor.update > 0) {
    --state_.cursor.update;
  } else {
    state_.cursor = {state_.cursor.epoch - 1, sampler_.updates_per_epoch() - 1};
  }
  auto dump = checkpoint(&facts);
  const auto pieces = sampler_.micro_batches(state_.cursor, plan_.micro_batch.value);
  for (const auto& piece : pieces) {
    const auto loaded = load_piece(task_.training_set(), piece, recipe_.seed, false);
    for (const auto& [name, tensor] : loaded.batch.tensors) {
      dump.trainer.emplace_back(fmt::format("batch.{}.{}", piece.part, name), tensor);
    }
    dump.trainer_state["batch_samples"].push_back(piece.indices);
  }
  state_ = after;
  const auto folder = options_.folder / "crash" / fmt::format("step-{}", dump.step);
  save_checkpoint(folder, dump);
  return folder;
}

}  // namespace ubique::engine
