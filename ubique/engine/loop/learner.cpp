// SPDX-License-Identifier: Apache-2.0
// Updates computed step by step, eval mode, and the learner's part of a checkpoint.
#include "ubique/engine/loop/learner.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/loop/state_fields.h"

namespace ubique::engine {
namespace {

/// The types and ranges that Schedule::load relies on.
void check_schedule_state(const StateFields& fields) {
  const auto schedule = fields.object("schedule");
  if (!schedule) return;
  if (schedule->has("lr")) schedule->number("lr", 0, kLargestF32);
  if (schedule->has("waited")) schedule->whole("waited", 0, kMostCounted);
}

/// The types and ranges that GradScaler::load relies on.
void check_scaler_state(const StateFields& fields) {
  const auto scaler = fields.object("scaler");
  if (!scaler) return;
  constexpr double kSmallestScale = std::numeric_limits<float>::denorm_min();
  if (scaler->has("scale")) scaler->number("scale", kSmallestScale, kLargestF32);
  if (scaler->has("tracker")) scaler->number("tracker", 0, kMostCounted);
}

/// Tensors under "PREFIX.", without the prefix.
NamedTensors under(const NamedTensors& tensors, const std::string& prefix) {
  NamedTensors found;
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(prefix + ".")) found.emplace_back(name.substr(prefix.size() + 1), tensor);
  }
  return found;
}

void append_under(NamedTensors& list, const std::string& prefix, const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) list.emplace_back(prefix + "." + name, tensor);
}

/// The list with the tensors of `by` in place of those of the same name.
NamedTensors replaced(NamedTensors list, const NamedTensors& by) {
  for (auto& [name, tensor] : list) {
    const auto other = find_tensor(by, name);
    if (other.defined()) tensor = other;
  }
  return list;
}

}  // namespace

NamedTensors training_weights(const Checkpoint& checkpoint) {
  return replaced(checkpoint.model, under(checkpoint.trainer, "weights"));
}

Learner::Learner(Task& task, const plan::Plan& plan, c10::Device device, std::int64_t total_steps,
                 const dist::World& world)
    : task_(task),
      model_(task.model()),
      plan_(plan),
      device_(device),
      world_(world),
      parameters_(leaves_to_train()),
      optimizer_(choose_optimizer()),
      schedule_(make_schedule(task.recipe(), total_steps)),
      scaler_(device, plan.grad_scaler.value),
      averages_(parameters_, task.recipe().ema_decay),
      averages_fused_(averages_.enabled() && optimizer_->take_averages(averages_)),
      skipped_(device),
      statistics_(running_statistics(model_.network())) {
  model_.network().train();
  if (!world_.is_alone()) {
    ranks_.emplace(world_, whole_parameters(), running_statistics(model_.network()));
  }
  set_plan(plan);
}

void Learner::set_plan(const plan::Plan& plan) {
  plan_ = plan;
  pending_ = nullptr;
  recorded_.clear();
  if (!ranks_) return;
  const Shard shard{world_.rank(), world_.size(), plan.effective_batch.value,
                    plan.micro_batch.value};
  const auto ranks = shard.ranks;
  ranks_->choose_order((shard.parts() + ranks - 1) / ranks);
}

void Learner::begin() {
  statistics_.save();
  before_ = generator_states(device_);
  optimizer_->zero_grad();
  sum_.emplace(model_, scaler_, device_.type(), autocast_of(plan_));
  if (shards_) shards_->discard();
  if (ranks_) ranks_->begin();
}

void Learner::add(const Batch& batch) {
  if (ranks_) return add_in_step(batch);
  if (is_recordable(batch)) return add_recorded(batch);
  sum_->add(to_device(batch, device_, plan_));
}

UpdateResult Learner::finish(std::int64_t step) {
  if (pending_ != nullptr) return finish_recorded(step);
  const c10::NoGradGuard no_gradients;
  if (ranks_) {
    ranks_->reduce(*sum_, statistics_);
    if (shards_) shards_->finish();
    model_.gather_leaves(world_);
  }
  UpdateResult result;
  result.rates = schedule_->at(step);
  result.weight = sum_->weight();
  result.samples = sum_->samples();
  optimizer_->prepare(result.rates);
  apply_update(result);
  optimizer_->zero_grad();
  sum_.reset();
  collected_weights_.clear();
  collected_averages_.clear();
  return result;
}

GradientNorm Learner::prepare_gradients() {
  const auto extra = model_.extra_leaves();
  const auto with_extra = [&](NamedTensors leaves) {
    leaves.insert(leaves.end(), extra.begin(), extra.end());
    return leaves;
  };
  auto norm = gradient_norm(with_extra(shards_ ? whole_parameters() : parameters_));
  if (shards_) norm = shards_->norm_with(norm);
  return scale_and_clip_gradients(with_extra(parameters_), norm, sum_->factor(), scaler_.inverse(),
                                  task_.recipe().clip_norm);
}

/// Computes new weights from the gradients of sum_, without waiting for the device.
void Learner::apply_update(UpdateResult& result) {
  result.scale = scaler_.scale().clone();
  const auto gradient = prepare_gradients();
  result.norm = gradient.norm;
  result.bad = gradient.bad;
  result.loss = sum_->empty() ? at::zeros_like(result.norm) : sum_->loss().to(at::kFloat);
  result.metrics = sum_->metrics();
  result.ratios = sum_->ratios();
  if (sum_->empty()) return;
  optimizer_->step(result.bad);
  if (!averages_fused_) averages_.update();
  scaler_.update(result.bad);
  skipped_.observe(result.bad);
  statistics_.reset_nonfinite();
  model_.commit_state(result.bad);
}

void Learner::discard() {
  sum_.reset();
  if (shards_) shards_->discard();
  pending_ = nullptr;
  model_.discard_state();
  optimizer_->zero_grad();
  statistics_.restore();
  restore_generators(device_, before_);
}

struct Learner::EvalMode::Held {
  explicit Held(Learner& learner)
      : network(learner.model_.network()),
        generators(learner.device_),
        averages(learner.averages_),
        shards(learner.shards_ ? &*learner.shards_ : nullptr),
        autocast(learner.device_.type(), autocast_of(learner.plan_)) {
    network.eval();
    if (shards != nullptr) shards->gather_all();
  }
  ~Held() {
    if (shards != nullptr) shards->release_all();
    network.train();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  torch::nn::Module& network;
  ScopedGenerators generators;
  AveragedWeights::InPlace averages;
  ShardedWeights* shards;
  c10::NoGradGuard no_gradients;
  Autocast autocast;
};

Learner::EvalMode::EvalMode(Learner& learner) : held_(std::make_unique<Held>(learner)) {}
Learner::EvalMode::~EvalMode() = default;

void Learner::save_generators(Checkpoint& checkpoint, const GeneratorStates& states) const {
  checkpoint.trainer.emplace_back("generator.cpu", states.cpu);
  if (states.device.defined()) {
    checkpoint.trainer.emplace_back("generator.device", states.device);
  }
  checkpoint.trainer_state["generator"] = c10::DeviceTypeName(device_.type(), true);
}

void Learner::load_generators(const Checkpoint& checkpoint) {
  const auto type = c10::DeviceTypeName(device_.type(), true);
  const StateFields fields(checkpoint.trainer_state);
  const auto saved = fields.has("generator") ? fields.text("generator") : "";
  GeneratorStates states{find_tensor(checkpoint.trainer, "generator.cpu"), {}};
  if (saved == type) states.device = find_tensor(checkpoint.trainer, "generator.device");
  if (saved != type) {
    log::info("the checkpoint is from another kind of device ({}): dropout uses new random numbers",
              saved);
  }
  try {
    restore_generators(device_, states);
  } catch (const c10::Error& error) {  // torch checks a state's type, length and content
    fail(ErrorKind::Input,
         "[engine.resume] the checkpoint's random generator cannot be restored; got '{}', expected "
         "the state of a generator. Start from it with --model instead.",
         error.what_without_backtrace());
  }
}

void Learner::save(Checkpoint& checkpoint) const {
  const auto weights = replaced(state_dict(model_.network()), collected_weights_);
  checkpoint.model = replaced(replaced(weights, averages_.averages()), collected_averages_);
  if (averages_.enabled()) {
    append_under(checkpoint.trainer, "weights", whole_parameters());
    append_under(checkpoint.trainer, "weights", collected_weights_);
  }
  append_under(checkpoint.trainer, "optimizer", optimizer_->state());
  append_under(checkpoint.trainer, "carry", model_.persistent_state());
  save_generators(checkpoint, generator_states(device_));
  auto& state = checkpoint.trainer_state;
  state["optimizer"] = task_.recipe().optimizer.name;
  state["schedule"] = schedule_->state();
  state["scaler"] = scaler_.enabled() ? scaler_.state() : Json(nullptr);
  state["skipped"] = skipped_.total().item<double>();
}

void Learner::save_before(Checkpoint& checkpoint, const UpdateResult& result) const {
  save(checkpoint);
  checkpoint.model = replaced(std::move(checkpoint.model), statistics_.saved());
  std::erase_if(checkpoint.trainer,
                [](const auto& item) { return item.first.starts_with("generator."); });
  save_generators(checkpoint, before_);
  if (scaler_.enabled()) {
    checkpoint.trainer_state["scaler"] = {{"scale", result.scale.item<double>()}, {"tracker", 0}};
  }
}

void Learner::load(const Checkpoint& checkpoint) {
  const auto& state = checkpoint.trainer_state;
  check(state.is_object(), ErrorKind::Input,
        "[engine.resume] the checkpoint holds weights only; got no trainer state, expected one to "
        "resume from. Start from it with --model instead.");
  const StateFields fields(state);
  const auto name = fields.has("optimizer") ? fields.text("optimizer") : "";
  check(name == task_.recipe().optimizer.name, ErrorKind::Input,
        "[engine.resume] the checkpoint was trained with another optimizer; got {}, expected {}.",
        name, task_.recipe().optimizer.name);
  check_schedule_state(fields);
  check_scaler_state(fields);
  if (averages_.enabled()) {
    averages_.load(shards_ ? shards_->sliced(checkpoint.model) : checkpoint.model);
  }
  optimizer_->load(under(checkpoint.trainer, "optimizer"));
  if (fields.has("schedule")) schedule_->load(state["schedule"]);
  if (fields.has("scaler")) scaler_.load(state["scaler"]);
  skipped_.load(fields.has("skipped") ? fields.number("skipped", 0, kMostCounted) : 0);
  load_persistent_state(under(checkpoint.trainer, "carry"));
  load_generators(checkpoint);
}

void Learner::load_persistent_state(const NamedTensors& saved) {
  const c10::NoGradGuard no_gradients;
  const auto state = model_.persistent_state();
  const auto fits = [&](const auto& item) {
    const auto found = find_tensor(saved, item.first);
    return found.defined() && found.sizes() == item.second.sizes();
  };
  if (!std::all_of(state.begin(), state.end(), fits)) {
    log::warn(
        "[engine.resume] the checkpoint's persistent state has other shapes than the model's: "
        "it starts anew");
    return;
  }
  for (const auto& [name, tensor] : state) tensor.copy_(find_tensor(saved, name));
}

}  // namespace ubique::engine
