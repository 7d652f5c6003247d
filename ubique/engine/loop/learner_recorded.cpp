// SPDX-License-Identifier: Apache-2.0
// Updates that are recorded once for their shapes (CUDA graphs) and replayed: networks of many
// small kernels would otherwise spend their time on launches.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <utility>

#include "ubique/base/terminal/log.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/loop/learner.h"

namespace ubique::engine {
namespace {

/// Each takes four updates' time to make, and memory for its list of kernels; their values share
/// memory.
constexpr std::size_t kMostRecordings = 16;

}  // namespace

/// The recording of batches of these shapes; null if there is none.
Learner::Recorded* Learner::find_recorded(const Batch& batch) const {
  const auto found = std::ranges::find_if(recorded_, [&](const auto& recorded) {
    return std::ranges::equal(
        recorded->batch.tensors, batch.tensors, [](const auto& one, const auto& other) {
          return one.first == other.first && one.second.sizes() == other.second.sizes();
        });
  });
  return found == recorded_.end() ? nullptr : found->get();
}

bool Learner::is_recordable(const Batch& batch) const {
  const bool whole = plan_.accumulation.value == 1 && batch.samples == plan_.micro_batch.value;
  if (!plan_.graph_capture.value || !whole || batch.weight <= 0) return false;
  return optimizer_->capturable() &&
         (recorded_.size() < kMostRecordings || find_recorded(batch) != nullptr);
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
std::unique_ptr<Learner::Recorded> Learner::record(const Batch& batch) {
  auto recorded = std::make_unique<Recorded>(Recorded{to_device(batch, device_, plan_)});
  // Own memory: later batches are copied into it.
  for (auto& [name, tensor] : recorded->batch.tensors) tensor = tensor.clone();
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
  const auto work = [this, &recorded = *recorded] {
    optimizer_->zero_grad();
    sum_.emplace(model_, scaler_, device_.type(), autocast_of(plan_));
    sum_->add(recorded.batch);
    const c10::NoGradGuard no_gradients;
    apply_update(recorded.result);
  };
  try {
    const auto* beside = recorded_.empty() ? nullptr : recorded_.front()->work.get();
    recorded->work = device::record(device_, "a training update", work, beside);
  } catch (...) {
    restore();
    throw;
  }
  restore();
  recorded->tables = model_.tables();
  return recorded;
}

/// Does everything that may run out of memory, so that finish() only replays.
void Learner::add_recorded(const Batch& batch) {
  pending_ = find_recorded(batch);
  if (pending_ != nullptr) {
    for (auto& [name, tensor] : pending_->batch.tensors) {
      tensor.copy_(batch.tensors.at(name), plan_.non_blocking.value);
    }
    pending_->batch.weight = batch.weight;
    return;
  }
  std::unique_ptr<Recorded> fresh;
  try {
    fresh = record(batch);
  } catch (const std::exception& error) {
    if (recorded_.empty() || !device::is_out_of_memory(error)) throw;
    log::warn(
        "[engine.record] there is no memory to record updates of other shapes: kernels are "
        "launched one by one from now on, which is slower.");
  }
  if (!fresh || !fresh->work) return add_unrecorded(batch);
  pending_ = recorded_.emplace_back(std::move(fresh)).get();
}

/// Gives up recording.
void Learner::add_unrecorded(const Batch& batch) {
  plan_.graph_capture.value = false;
  recorded_.clear();
  device::empty_cache(device_);
  begin();
  sum_->add(to_device(batch, device_, plan_));
}

UpdateResult Learner::finish_recorded(std::int64_t step) {
  auto& recorded = *std::exchange(pending_, nullptr);
  const auto rates = schedule_->at(step);
  optimizer_->prepare(rates);
  recorded.work->replay();
  auto result = recorded.result;
  result.rates = rates;
  result.weight = recorded.batch.weight;
  result.samples = recorded.batch.samples;
  return result;
}

}  // namespace ubique::engine
