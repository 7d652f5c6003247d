// SPDX-License-Identifier: Apache-2.0
// Out-of-memory: the run continues with a plan that uses less, and warns.
#include "ubique/base/terminal/log.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/loop/auto_batch.h"
#include "ubique/engine/loop/trainer_run.h"

namespace ubique::engine {

/// Tries a micro-batch that the plan predicted before the first update. Micro-batch 1 is not tried:
/// the first update shows whether it fits.
void TrainingRun::try_micro_batch() {
  while (plan_.micro_batch.value > 1 && !plan_.micro_batch_asked) {
    auto message = try_batch(*learner_, task_.training_set(), plan_);
    for (const auto& failure : world_.gather(message)) {
      if (message.empty()) message = failure;
    }
    if (message.empty()) return;
    retry_with_less_memory(message);
  }
}

void TrainingRun::retry_with_less_memory(const std::string& why) {
  loader_.reset();
  device::empty_cache(device_);
  const auto before = plan_;
  learner_->collect_state(shard());  // with other micro-batches, ranks have other samples
  plan_ = reduce_memory(plan_, model_.needs(), why);
  if (plan_.micro_batch.value != before.micro_batch.value) {
    log::warn(
        "[engine.memory] out of memory at {} samples at once ({}); continuing with {}, {} per "
        "update as before",
        before.micro_batch.value, why, plan_.micro_batch.value, plan_.effective_batch.value);
  } else {
    log::warn(
        "[engine.memory] out of memory at one sample at once ({}); continuing with gradient "
        "checkpointing, which takes longer",
        why);
  }
  model_.apply_plan(plan_);
  learner_->set_plan(plan_);
  state_.memory_reduced = true;
  state_.micro_batch = plan_.micro_batch.value;
  state_.checkpointing = plan_.checkpointing.value;
  state_.segments = plan_.segments;
  if (folder_) folder_->write_plan(plan_);
}

void TrainingRun::start_loader() {
  loader_ = std::make_unique<Loader>(task_.training_set(), sampler_, plan_, recipe_.seed,
                                     state_.cursor, total_ - state_.step, shard());
}

}  // namespace ubique::engine
