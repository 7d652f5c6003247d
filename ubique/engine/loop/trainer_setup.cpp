// SPDX-License-Identifier: Apache-2.0
// The start of a run: a network with fresh, given or resumed weights on the plan's device.
#include <torch/nn/module.h>

#include <iostream>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/loop/state_fields.h"
#include "ubique/engine/loop/trainer_run.h"
#include "ubique/engine/session/session.h"

namespace ubique::engine {
namespace {

c10::Device training_device(const Session& session) {
  const auto& plan = session.plan();
  check(plan.mode == plan::Mode::Train && plan.profile.empty(), ErrorKind::Usage,
        "[engine.train] a plan for {} cannot be trained by; expected one for training on this "
        "machine.",
        plan.profile.empty() ? "inference" : plan.profile);
  device::reset_peak(session.torch_device());
  return session.torch_device();
}

std::int64_t all_updates(const Recipe& recipe, const data::Sampler& sampler) {
  const auto updates = recipe.epochs * sampler.updates_per_epoch();
  return recipe.max_steps > 0 ? std::min(recipe.max_steps, updates) : updates;
}

data::Sampler make_sampler(const Dataset& dataset, std::int64_t per_update, std::uint64_t seed) {
  const Random random(seed, number(SeedStream::Order));
  return {dataset.epoch_samples(per_update), per_update,
          [&dataset, per_update, random](std::int64_t epoch) {
            return dataset.order(epoch, per_update, random.fork(static_cast<std::uint64_t>(epoch)));
          }};
}

/// The first key in which two configurations differ, with both values.
std::string first_difference(const Json& saved, const Json& wanted) {
  for (const auto& [key, value] : wanted.items()) {
    const auto found = saved.find(key);
    if (found == saved.end()) return fmt::format("no {}, expected {}", key, json_text(value));
    if (*found != value) {
      return fmt::format("{} {}, expected {}", key, json_text(*found), json_text(value));
    }
  }
  for (const auto& [key, value] : saved.items()) {
    if (!wanted.contains(key)) return fmt::format("{} {}, expected none", key, json_text(value));
  }
  return "the same keys in another form";
}

}  // namespace

TrainingRun::TrainingRun(Task& task, const Session& session, const TrainOptions& options)
    : task_(task),
      model_(task.model()),
      recipe_(task.recipe()),
      plan_(session.plan()),
      options_(options),
      device_(training_device(session)),
      world_(dist::world()),
      sampler_(make_sampler(task.training_set(), plan_.effective_batch.value, recipe_.seed)),
      total_(all_updates(recipe_, sampler_)),
      fingerprint_(task.training_set().fingerprint()) {
  state_.seed = recipe_.seed;
  state_.planned_batch = state_.micro_batch = plan_.micro_batch.value;
  state_.effective_batch = plan_.effective_batch.value;
  if (world_.is_first()) folder_.emplace(options.folder, options.resume);
  check_ranks();
  const auto found = share_checkpoint(find_checkpoint());
  if (found) check_same_model(*found);
  prepare_network(found);
  learner_ = std::make_unique<Learner>(task, plan_, device_, total_);
  epoch_mean_.emplace(device_);
  if (found) resume(*found);
  if (folder_) folder_->write_configuration(options.configuration);
  if (folder_) folder_->write_plan(plan_);
  progress_ = std::make_unique<Progress>(
      Progress::Options{.title = "train",
                        .total = std::max<std::int64_t>(total_ - state_.step, 0),
                        .unit = "steps",
                        .style = options.progress},
      options.progress_stream != nullptr ? *options.progress_stream : std::cerr);
}

std::optional<Checkpoint> TrainingRun::find_checkpoint() {
  if (!folder_) return std::nullopt;  // rank 0 reads it
  if (options_.resume) {              // a run that began elsewhere goes on from its own last one
    if (auto last = folder_->load_last()) return last;
  }
  if (!options_.resume_from.empty()) return load_checkpoint(options_.resume_from);
  if (options_.resume) {
    log::info("nothing to resume in {}: starting anew", options_.folder.string());
  }
  return std::nullopt;
}

void TrainingRun::check_same_model(const Checkpoint& checkpoint) const {
  check(checkpoint.family == model_.family(), ErrorKind::Input,
        "[engine.resume] the checkpoint is of another family; got {}, expected {}.",
        checkpoint.family, model_.family());
  const auto config = model_.config();
  if (checkpoint.config == config) return;
  fail(ErrorKind::Input,
       "[engine.resume] the checkpoint is of another {}; got {}. Resume with the settings it was "
       "made with, or start from it with --model.",
       model_.family(), first_difference(checkpoint.config, config));
}

void TrainingRun::prepare_network(const std::optional<Checkpoint>& checkpoint) {
  if (!checkpoint && !model_.initialized()) {
    model_.initialize(Random(recipe_.seed, number(SeedStream::Initialization)));
    model_.set_initialized();
  }
  if (checkpoint) {
    load_state(model_.network(), training_weights(*checkpoint), "the checkpoint");
    const auto saved = read_run_state(checkpoint->trainer_state);
    if (saved.memory_reduced && saved.planned_batch == plan_.micro_batch.value) {
      plan_.micro_batch.value = saved.micro_batch;      // as reduced after out-of-memory
      if (plan_.shard.value != plan::Shard::Weights) {  // which need it, whatever was before
        plan_.checkpointing.value = saved.checkpointing;
        plan_.segments = saved.segments;
      }
    }
  }
  move_network(model_.network(), plan_, device_);
  model_.apply_plan(plan_);
  // Dropout uses torch's own generators.
  const Random torch_seed(recipe_.seed, number(SeedStream::Torch));
  device::manual_seed(device_, torch_seed.bits(0));
}

void TrainingRun::resume(const Checkpoint& checkpoint) {
  const auto fresh = state_;
  learner_->load(checkpoint);
  state_ = read_run_state(checkpoint.trainer_state);
  check(state_.effective_batch == fresh.effective_batch || state_.cursor.update == 0,
        ErrorKind::Input,
        "[engine.resume] the checkpoint is in the middle of an epoch of updates of {} samples; "
        "got an effective batch of {}. Resume with --effective-batch {}.",
        state_.effective_batch, fresh.effective_batch, state_.effective_batch);
  state_.effective_batch = fresh.effective_batch;
  state_.memory_reduced = state_.memory_reduced && state_.planned_batch == fresh.planned_batch;
  state_.planned_batch = fresh.planned_batch;
  state_.micro_batch = plan_.micro_batch.value;
  epoch_mean_.emplace(device_, state_.epoch_loss, state_.epoch_weight);
  if (state_.seed != recipe_.seed) {
    log::warn("[engine.resume] the run began with seed {} and continues with {}", state_.seed,
              recipe_.seed);
    state_.seed = recipe_.seed;
  }
  const StateFields provenance(checkpoint.provenance, "provenance.");
  task_.check_resume(checkpoint.provenance);
  const auto data = provenance.has("data") ? provenance.text("data") : "";
  if (data != fingerprint_) {
    log::warn("[engine.resume] the training data changed since the checkpoint: {} then, {} now",
              data, fingerprint_);
  }
  check(state_.cursor.update < sampler_.updates_per_epoch(), ErrorKind::Input,
        "[engine.resume] the checkpoint is at update {} of an epoch, which now has {}; expected "
        "the same data and effective batch.",
        state_.cursor.update, sampler_.updates_per_epoch());
  log::info("resuming at step {} of {} (epoch {})", state_.step, total_, state_.cursor.epoch + 1);
}

double TrainingRun::seconds() const {
  return state_.seconds + std::chrono::duration<double>(Clock::now() - start_).count();
}

}  // namespace ubique::engine
