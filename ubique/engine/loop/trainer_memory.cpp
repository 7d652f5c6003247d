// SPDX-License-Identifier: Apache-2.0
// What a run does when the device has less memory than was predicted: it gives way and says so.
#include "ubique/base/terminal/log.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/loop/auto_batch.h"
#include "ubique/engine/loop/trainer_run.h"

namespace ubique::engine {

/// A predicted number of samples at once is tried before anything is learned. A single one that
/// does not fit shows itself in the first update.
void TrainingRun::verify_batch() {
  while (plan_.micro_batch.value > 1 && !plan_.micro_batch_asked) {
    const auto trouble = try_batch(*learner_, task_.training_set(), plan_);
    if (trouble.empty()) return;
    retry_with_less_memory(trouble);
  }
}

void TrainingRun::retry_with_less_memory(const std::string& why) {
  loader_.reset();
  device::empty_cache(device_);
  const auto before = plan_;
  plan_ = reduce_memory(plan_, model_.needs(), why);
  if (plan_.micro_batch.value != before.micro_batch.value) {
    log::warn(
        "[engine.memory] out of memory at {} samples at once ({}); going on with {}, {} per "
        "update as before",
        before.micro_batch.value, why, plan_.micro_batch.value, plan_.effective_batch.value);
  } else {
    log::warn(
        "[engine.memory] out of memory at one sample at once ({}); going on with gradient "
        "checkpointing, which takes longer",
        why);
  }
  model_.apply_plan(plan_);
  learner_->follow(plan_);
  state_.relieved = true;
  state_.micro_batch = plan_.micro_batch.value;
  state_.checkpointing = plan_.checkpointing.value;
  state_.segments = plan_.segments;
  folder_.write_plan(plan_);
}

void TrainingRun::start_loader() {
  loader_ = std::make_unique<Loader>(task_.training_set(), sampler_, plan_, recipe_.seed,
                                     state_.cursor, total_ - state_.step);
}

}  // namespace ubique::engine
