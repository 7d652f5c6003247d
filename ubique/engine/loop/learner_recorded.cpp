// SPDX-License-Identifier: Apache-2.0
// Updates that are recorded once (CUDA graphs) and replayed: small networks would otherwise spend
// their time on kernel launches.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/loop/learner.h"

namespace ubique::engine {

bool Learner::is_recordable(const Batch& batch) const {
  const bool whole = plan_.accumulation.value == 1 && batch.samples == plan_.micro_batch.value;
  const auto fits = [&](const auto& item) {
    return batch.tensors.at(item.first).sizes() == item.second.sizes();
  };
  if (recorded_ && !std::ranges::all_of(recorded_->batch.tensors, fits)) return false;
  return plan_.graph_capture.value && whole && batch.weight > 0 && optimizer_->capturable();
}

/// All tensors that an update changes.
std::vector<at::Tensor> Learner::changing_state() const {
  std::vector<at::Tensor> tensors = {scaler_.scale(), scaler_.tracker(), skipped_.total(),
                                     skipped_.in_a_row()};
  const auto add = [&](const NamedTensors& named) {
    for (const auto& [name, tensor] : named) tensors.push_back(tensor.detach());
  };
  add(state_dict(model_.network()));
  add(optimizer_->state());
  add(averages_.averages());
  add(model_.persistent_state());
  return tensors;
}

/// Recording executes the work too, so the state is restored afterwards, also after an error: the
/// update itself is still to be replayed. Until then it is kept in the host's memory: on the device
/// weights and optimizer states, twice, would be the peak of the whole training.
void Learner::record() {
  auto& recorded = *recorded_;
  std::vector<at::Tensor> before;
  for (const auto& tensor : changing_state()) {
    before.push_back(tensor.to(at::kCPU, tensor.scalar_type(), /*non_blocking=*/false,
                               /*copy=*/true));
  }
  const auto restore = [&] {
    sum_.reset();
    const c10::NoGradGuard no_gradients;
    const auto now = changing_state();
    for (std::size_t i = 0; i < now.size(); ++i) at::Tensor(now[i]).copy_(before[i]);
    restore_generators(device_, before_);
  };
  optimizer_->prepare(schedule_->at(0));  // any rates will do
  try {
    recorded.work = device::record(device_, "a training update", [&] {
      optimizer_->zero_grad();
      sum_.emplace(model_, scaler_, device_.type(), autocast_of(plan_));
      sum_->add(recorded.batch);
      const c10::NoGradGuard no_gradients;
      apply_update(recorded.result);
    });
  } catch (...) {
    restore();
    throw;
  }
  restore();
}

/// Does everything that may run out of memory, so that finish() only replays.
void Learner::add_recorded(const Batch& batch) {
  if (recorded_) {
    for (auto& [name, tensor] : recorded_->batch.tensors) {
      tensor.copy_(batch.tensors.at(name), plan_.non_blocking.value);
    }
    recorded_->batch.weight = batch.weight;
  } else {
    recorded_.emplace(Recorded{to_device(batch, device_, plan_), {}, nullptr});
    // Own memory: later batches are copied into it.
    for (auto& [name, tensor] : recorded_->batch.tensors) tensor = tensor.clone();
    record();
  }
  replay_pending_ = recorded_->work != nullptr;
  if (replay_pending_) return;
  plan_.graph_capture.value = false;  // not supported here: no recording from now on
  const auto kept = recorded_->batch;
  recorded_.reset();
  begin();
  sum_->add(kept);
}

UpdateResult Learner::finish_recorded(std::int64_t step) {
  replay_pending_ = false;
  const auto rates = schedule_->at(step);
  optimizer_->prepare(rates);
  recorded_->work->replay();
  auto result = recorded_->result;
  result.rates = rates;
  result.weight = recorded_->batch.weight;
  result.samples = recorded_->batch.samples;
  return result;
}

}  // namespace ubique::engine
