// SPDX-License-Identifier: Apache-2.0
// An update whose passes exchange sums (synchronised batch norm) or weights (split ones): the ranks
// compute their micro-batches in step, one each in a round.
#include <exception>
#include <vector>

#include "ubique/device/runtime.h"
#include "ubique/engine/loop/auto_batch.h"
#include "ubique/engine/loop/trainer_run.h"

namespace ubique::engine {
namespace {

/// The model uses the sums within a scope.
class UsingSums {
 public:
  UsingSums(UsesPassSums& model, PassSums& sums) : model_(model) { model.set_pass_sums(&sums); }
  ~UsingSums() { model_.set_pass_sums(nullptr); }
  UsingSums(const UsingSums&) = delete;
  UsingSums& operator=(const UsingSums&) = delete;

 private:
  UsesPassSums& model_;
};

double first_weight(const std::vector<Batch>& batches) {
  for (const auto& batch : batches) {
    if (batch.weight > 0) return batch.weight;
  }
  return 0;
}

}  // namespace

/// All are loaded first: in a round nobody may wait for anything but the other ranks.
std::vector<Batch> TrainingRun::load_batches(std::int64_t count, std::exception_ptr& failure) {
  std::vector<Batch> batches;
  try {
    while (std::ssize(batches) < count) batches.push_back(loader_->next().batch);
  } catch (const std::exception& error) {
    if (!device::is_out_of_memory(error)) throw;
    failure = std::current_exception();
  }
  return batches;
}

/// As many as the first rank has micro-batches, which has the most.
std::int64_t TrainingRun::rounds_of_update() const {
  auto of_first = shard();
  of_first.rank = 0;
  return of_first.range(parts_of_update()).second;
}

/// Whoever runs out of memory says so in place of its next sums.
void TrainingRun::compute_rounds(UsesPassSums& model) {
  const auto [from, to] = shard().range(parts_of_update());
  std::exception_ptr failure;
  const auto batches = load_batches(to - from, failure);
  learner_->agree_on_weight(first_weight(batches), std::ssize(batches));
  PassSums sums(world_);
  const UsingSums scope(model, sums);
  try {
    if (failure) std::rethrow_exception(failure);
    for (std::int64_t round = 0; round < rounds_of_update(); ++round) {
      const bool has_one = round < std::ssize(batches);
      compute_round(sums, has_one ? &batches[static_cast<std::size_t>(round)] : nullptr,
                    from + round);
    }
  } catch (const std::exception& error) {
    if (device::is_out_of_memory(error)) sums.fail(first_line(error));
    throw;
  }
}

void TrainingRun::compute_round(PassSums& sums, const Batch* batch, std::int64_t part) {
  if (batch == nullptr || batch->weight == 0) return sums.sit_out();
  seed_draws(part);
  learner_->add(*batch);
  sums.finish_round();
}

/// With split weights. Whoever runs out of memory computes no more, but takes part in the rounds.
void TrainingRun::compute_split_rounds() {
  const auto [from, to] = shard().range(parts_of_update());
  std::exception_ptr failure;
  const auto batches = load_batches(to - from, failure);
  learner_->agree_on_weight(first_weight(batches), std::ssize(batches));
  for (std::int64_t round = 0; round < rounds_of_update(); ++round) {
    if (failure || round >= std::ssize(batches)) {
      learner_->sit_out();
      continue;
    }
    try {
      seed_draws(from + round);
      learner_->add(batches[static_cast<std::size_t>(round)]);
    } catch (const std::exception& error) {
      if (!device::is_out_of_memory(error)) throw;
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ubique::engine
