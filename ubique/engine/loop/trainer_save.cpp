// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a run: for resuming, and of a skipped update for finding its cause.
#include <fmt/format.h>

#include <utility>

#include "ubique/base/terminal/log.h"
#include "ubique/engine/loop/trainer_run.h"
#include "ubique/plan/report.h"

namespace ubique::engine {

Checkpoint TrainingRun::checkpoint(const UpdateResult* skipped) {
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
  skipped != nullptr ? learner_->save_before(made, *skipped) : learner_->save(made);
  return made;
}

/// All ranks: what rank 0 needs for a checkpoint.
void TrainingRun::collect() {
  learner_->collect_state(shard());
  learner_->collect_shards();
}

void TrainingRun::save(const std::string& name) {
  if (!std::exchange(state_collected_, true)) collect();
  if (folder_) {
    folder_->save(checkpoint(), name, recipe_.keep);
    task_.checkpoint_saved(options_.folder);
  }
  save_time_ = Clock::now();
}

/// Saves a checkpoint from before the last update, with the batches of that update.
std::filesystem::path TrainingRun::dump_update(const UpdateResult& update) {
  collect();
  const auto folder = options_.folder / "crash" / fmt::format("step-{}", state_.step - 1);
  if (!folder_) return folder;
  const auto after = state_;
  --state_.step;
  --state_.open_updates;
  if (state_.cursor.update > 0) {
    --state_.cursor.update;
  } else {
    state_.cursor = {state_.cursor.epoch - 1, sampler_.updates_per_epoch() - 1};
  }
  auto dump = checkpoint(&update);
  const auto micro_batches = sampler_.micro_batches(state_.cursor, plan_.micro_batch.value);
  for (const auto& micro_batch : micro_batches) {
    const auto loaded = load_batch(task_.training_set(), micro_batch, recipe_.seed, false);
    for (const auto& [name, tensor] : loaded.batch.tensors) {
      dump.trainer.emplace_back(fmt::format("batch.{}.{}", micro_batch.part, name), tensor);
    }
    dump.trainer_state["batch_samples"].push_back(micro_batch.indices);
  }
  state_ = after;
  save_checkpoint(folder, dump);
  return folder;
}

}  // namespace ubique::engine
