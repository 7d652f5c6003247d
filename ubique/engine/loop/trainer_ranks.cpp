// SPDX-License-Identifier: Apache-2.0
// A run of several ranks: they start alike, compute their micro-batches, and agree in every update
// on what to do next. Rank 0 reads and writes all files.
#include <ATen/ATen.h>

#include <algorithm>
#include <exception>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/loop/trainer_run.h"
#include "ubique/engine/ranks/checkpoint_share.h"
#include "ubique/engine/ranks/rank_agreement.h"
#include "ubique/plan/report.h"

namespace ubique::engine {
namespace {

constexpr std::int64_t kBetweenDigests = 100;  // updates

}  // namespace

Shard TrainingRun::shard() const {
  return {world_.rank(), world_.size(), plan_.effective_batch.value, plan_.micro_batch.value};
}

void TrainingRun::check_ranks() const {
  if (world_.is_alone()) return;
  check(world_.size() <= sampler_.samples(), ErrorKind::Usage,
        "[engine.ranks] there are more processes than samples; got {} processes and an epoch of {} "
        "samples, expected at least one for each.",
        world_.size(), sampler_.samples());
  check(shard().parts() >= world_.size(), ErrorKind::Usage,
        "[engine.ranks] some of the {} processes would have nothing to do; got updates of {} "
        "samples in micro-batches of {}, expected at least {} micro-batches. Use --batch {} or "
        "less.",
        world_.size(), plan_.effective_batch.value, plan_.micro_batch.value, world_.size(),
        std::max<std::int64_t>(1, plan_.effective_batch.value / world_.size()));
  RankFacts mine;
  mine.version = UBIQUE_VERSION;
  mine.device = plan_.device.value.substr(0, plan_.device.value.find(':'));
  mine.dtype = to_string(plan_.dtype.value);
  mine.shard = to_string(plan_.shard.value);
  mine.configuration = options_.configuration;
  mine.data = fingerprint_;
  mine.samples = sampler_.samples();
  mine.micro_batch = plan_.micro_batch.value;
  mine.resumes = options_.resume || !options_.resume_from.empty();
  check_alike(gather_facts(world_, mine));
}

std::optional<Checkpoint> TrainingRun::share_checkpoint(std::optional<Checkpoint> mine) const {
  return world_.is_alone() ? std::move(mine) : share_from_first(world_, std::move(mine));
}

/// Draws of a micro-batch (dropout, noise) depend on the seed and its place in the run, not on what
/// its process computed before.
void TrainingRun::seed_draws(std::int64_t part) const {
  const Random draws =
      Random(recipe_.seed, number(SeedStream::Torch)).fork(static_cast<std::uint64_t>(state_.step));
  device::manual_seed(device_, draws.bits(static_cast<std::uint64_t>(part)));
}

/// Micro-batches of the update that is made now.
std::int64_t TrainingRun::parts_of_update() const {
  const auto all = shard();
  const auto left = sampler_.samples() - state_.cursor.update * all.per_update;
  return all.parts_of(std::min(left, all.per_update));
}

/// After out-of-memory this rank computes no more, but tells the others what they wait for.
void TrainingRun::compute_micro_batches() {
  auto* model = dynamic_cast<UsesPassSums*>(&model_);
  if (!world_.is_alone() && model != nullptr && model->wants_pass_sums()) {
    return compute_rounds(*model);
  }
  if (learner_->has_split_weights()) return compute_split_rounds();
  const auto [from, to] = shard().range(parts_of_update());
  bool agreed = world_.is_alone();
  std::exception_ptr failure;
  for (auto part = from; part < to && !failure; ++part) {
    try {
      const auto loaded = loader_->next();
      if (!agreed && loaded.batch.weight > 0) {
        learner_->agree_on_weight(loaded.batch.weight, to - from);
        agreed = true;
      }
      seed_draws(part);
      learner_->add(loaded.batch);
    } catch (const std::exception& error) {
      if (!device::is_out_of_memory(error)) throw;
      failure = std::current_exception();
    }
  }
  if (!agreed) learner_->agree_on_weight(0, 0);  // the others wait for it
  if (failure) std::rethrow_exception(failure);
}

/// A digest before the first update of this process, and every so often; empty in between. Before
/// the passes, which change running statistics on each rank by its own samples.
std::string TrainingRun::weights_to_compare() const {
  const bool due = !weights_checked_ || state_.step % kBetweenDigests == 0;
  return due && !world_.is_alone() ? learner_->weights_digest() : std::string();
}

Json TrainingRun::news(const std::string& failure, const std::string& weights) const {
  return {{"failure", failure},
          {"weights", weights},
          {"stop", options_.stop_requested && options_.stop_requested()},
          {"save", folder_ && Clock::now() - save_time_ >= options_.save_every}};
}

/// The first failure of a rank, if there is one.
std::string TrainingRun::read_news(const std::vector<Json>& all) {
  std::string failure;
  std::vector<std::string> weights;
  stop_agreed_ = save_agreed_ = false;
  for (const auto& rank : all) {
    stop_agreed_ = stop_agreed_ || rank["stop"].get<bool>();
    save_agreed_ = save_agreed_ || rank["save"].get<bool>();
    if (failure.empty()) failure = rank["failure"].get<std::string>();
    weights.push_back(rank["weights"].get<std::string>());
  }
  check_same_weights(weights, state_.step);
  weights_checked_ = true;
  return failure;
}

/// Tasks share out their held-out data (rank_jobs.h). Rank 0's scores decide for all what is best.
Scores TrainingRun::validate(bool last) {
  const auto scores =
      learner_->in_eval_mode([&] { return last ? task_.validate_last() : task_.validate(); });
  return world_.is_alone() ? scores : scores_from_first(world_, scores);
}

}  // namespace ubique::engine
