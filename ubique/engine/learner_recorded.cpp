// SPDX-License-Identifier: Apache-2.0
// Updates that are recorded once and played from then on: small networks would otherwise spend
// their time on launching kernels.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include "ubique/engine/learner.h"
#include "ubique/engine/state_dict.h"

namespace ubique::engine {

bool Learner::records(const Batch& batch) const {
  const bool whole = plan_.accumulation.value == 1 && batch.samples == plan_.micro_batch.value;
  return plan_.graph_capture.value && whole && batch.weight > 0 && optimizer_->capturable();
}

/// Everything that an update changes.
std::vector<at::Tensor> Learner::changing_state() const {
  std::vector<at::Tensor> tensors = {scaler_.scale(), scaler_.tracker(), skipped_.total(),
                                     skipped_.in_a_row()};
  const auto add = [&](const NamedTensors& named) {
    for (const auto& [name, tensor] : named) tensors.push_back(tensor.detach());
  };
  add(state_dict(model_.network()));
  add(optimizer_->state());
  add(averages_.averages());
  add(model_.carry());
  return tensors;
}

/// Recording rehearses the work, so the state is put back afterwards: the update itself is yet to
/// be played.
void Learner::record() {
  auto& recorded = *recorded_;
  std::vector<at::Tensor> before;
  for (const auto& tensor : changing_state()) before.push_back(tensor.clone());
  recorded.work = device::record(device_, [&] {
    optimizer_->zero_grad();
    sum_.emplace(model_, scaler_, device_.type(), autocast_of(plan_));
    sum_->add(recorded.batch);
    const c10::NoGradGuard no_gradients;
    conclude(recorded.facts);
  });
  sum_.reset();
  const c10::NoGradGuard no_gradients;
  const auto now = changing_state();
  for (std::size_t i = 0; i < now.size(); ++i) at::Tensor(now[i]).copy_(before[i]);
}

UpdateFacts Learner::finish_recorded(std::int64_t step) {
  waiting_ = false;
  const auto rates = schedule_->at(step);
  optimizer_->prepare(rates);
  if (!recorded_->work) record();
  if (!recorded_->work) {  // refused: one by one from now on
    const auto batch = recorded_->batch;
    plan_.graph_capture.value = false;
    recorded_.reset();
    begin();
    sum_->add(batch);
    return finish(step);
  }
  recorded_->work->replay();
  auto facts = recorded_->facts;
  facts.rates = rates;
  facts.weight = recorded_->batch.weight;
  facts.samples = recorded_->batch.samples;
  return facts;
}

}  // namespace ubique::engine
