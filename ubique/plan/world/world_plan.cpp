// SPDX-License-Identifier: Apache-2.0
// Worlds of every size, each from a plan of its own.
#include "ubique/plan/world/world_plan.h"

#include <algorithm>

#include "ubique/plan/report.h"

namespace ubique::plan {
namespace {

constexpr int kMostProcesses = 512;

struct Question {
  const device::Facts& facts;
  const probe::Report& report;
  const Needs& needs;
  const Wishes& wishes;
  const Plan& plan;
  const WorldPlan& answer;  ///< link and pace are known

  std::int64_t effective() const { return plan.effective_batch.value; }
  double alone_ms() const { return answer.pace.sample_ms * static_cast<double>(effective()); }
};

/// How much slower a process computes because others use the same cores.
double crowding(const Question& question, int processes) {
  const double threads = question.plan.compute_threads.value;
  if (!question.answer.wire.one_machine || threads == 0 || question.facts.cores == 0) return 1;
  return std::max(1.0, processes * threads / question.facts.cores);
}

/// The plan of one of so many processes; none if it cannot be.
std::optional<Plan> plan_of(const Question& question, int processes) {
  auto wishes = question.wishes;
  wishes.world_size = processes;
  wishes.effective_batch = question.effective();
  wishes.accumulation = 0;
  if (processes * std::max<std::int64_t>(1, wishes.batch) > wishes.effective_batch) return {};
  return attempt_plan(question.facts, question.report, question.needs, wishes).plan;
}

Split split_of(const Question& question, Shard shard) {
  Split split{.shard = shard, .blocks = question.needs.blocks};
  for (const auto& group : question.needs.parameters) {
    const auto in_blocks = static_cast<double>(group.in_blocks);
    const double stored =
        group.trainable ? sizeof(float) : static_cast<double>(size_of(question.plan.dtype.value));
    split.block_bytes += in_blocks * (group.bytes > 0 ? group.bytes : stored);
    if (group.trainable) split.block_numbers += group.in_blocks;
  }
  return split;
}

void fill_shared_batch(const Question& question, const Plan& plan, WorldSize& size) {
  const auto& pace = question.answer.pace;
  size.possible = true;
  size.micro_batch = plan.micro_batch.value;
  size.accumulation = plan.accumulation.value;
  size.exchange =
      predict_exchange(question.needs.trainable_count(), size.accumulation, size.processes,
                       question.answer.link, split_of(question, plan.shard.value));
  size.memory = plan.memory.total;
  if (plan.shard.value != Shard::Weights) {  // whose rows are added up as they come
    size.memory += (size.exchange.rows - 1) * size.exchange.gradient_bytes;
  }
  const double slower = crowding(question, size.processes);
  const double micro_ms = pace.sample_ms * static_cast<double>(size.micro_batch) * slower;
  if (micro_ms == 0) return;
  const double hidden = hidden_ms(size.exchange.ms, micro_ms * pace.backward_share, pace.overlap);
  size.update_ms = micro_ms * static_cast<double>(size.accumulation) + size.exchange.ms - hidden;
  size.speed_up = question.alone_ms() / size.update_ms;
  size.hidden_share = size.exchange.ms > 0 ? hidden / size.exchange.ms : 0;
}

void fill_grown_batch(const Question& question, std::int64_t micro_batches, WorldSize& size) {
  const auto& pace = question.answer.pace;
  const auto exchange = predict_exchange(question.needs.trainable_count(), micro_batches,
                                         size.processes, question.answer.link);
  if (pace.sample_ms == 0) return;
  const double compute = question.alone_ms() * crowding(question, size.processes);
  const double backward = compute * pace.backward_share / static_cast<double>(micro_batches);
  size.grown_update_ms = compute + exchange.ms - hidden_ms(exchange.ms, backward, pace.overlap);
  size.grown_efficiency = question.alone_ms() / size.grown_update_ms;
}

WorldSize size_of(const Question& question, int processes, std::int64_t micro_batches_alone) {
  WorldSize size{.processes = processes};
  if (const auto plan = plan_of(question, processes)) fill_shared_batch(question, *plan, size);
  fill_grown_batch(question, micro_batches_alone, size);
  return size;
}

MemoryParts memory_of(const Question& question, Shard shard, int processes, std::int64_t batch) {
  const auto& plan = question.plan;
  return predict_memory(question.needs,
                        {.mode = Mode::Train,
                         .kind = question.facts.kind,
                         .dtype = plan.dtype.value,
                         .attention = plan.attention.value,
                         .checkpointing = shard == Shard::Weights,
                         .batch = batch,
                         .shard = shard,
                         .processes = processes},
                        plan.memory.budget);
}

/// Processes from which a rank's samples go through at once; nothing is computed twice unless
/// weights are split.
int fits_from(const Question& question, Shard shard) {
  for (int processes = 1; processes <= kMostProcesses; processes *= 2) {
    auto batch = (question.effective() + processes - 1) / processes;
    if (question.needs.max_batch > 0) batch = std::min(batch, question.needs.max_batch);
    if (question.wishes.batch > 0) batch = question.wishes.batch;
    const auto memory = memory_of(question, processes > 1 ? shard : Shard::None, processes, batch);
    if (memory.total <= question.plan.memory.budget) return processes;
  }
  return 0;
}

std::vector<Sharding> shardings_of(const Question& question) {
  std::vector<std::pair<Shard, std::string>> kinds = {{Shard::None, "nothing"}};
  if (!question.needs.own_optimizer) kinds.emplace_back(Shard::Optimizer, "optimizer states");
  const bool has_blocks = question.needs.blocks > 0 && question.needs.checkpointing.supported;
  if (has_blocks) kinds.emplace_back(Shard::Weights, "weights and gradients of blocks too");
  const auto& world = question.answer.world;
  const auto micro_batches = std::max<std::int64_t>(1, world.accumulation);
  const auto sent = [&](Shard shard) {
    return predict_exchange(question.needs.trainable_count(), micro_batches, world.processes,
                            question.answer.link, split_of(question, shard))
        .sent;
  };
  std::vector<Sharding> all;
  for (const auto& [shard, what] : kinds) {
    const auto memory = memory_of(question, shard, world.processes, 1);
    Sharding sharding{.what = what};
    sharding.state_bytes = memory.weights + memory.gradients + memory.optimizer;
    if (sent(Shard::None) > 0) sharding.traffic = sent(shard) / sent(Shard::None);
    sharding.fits_from = fits_from(question, shard);
    all.push_back(std::move(sharding));
  }
  return all;
}

/// The smallest world in which sharding lets the samples go through at once and nothing else does.
int pays_from(const std::vector<Sharding>& shardings) {
  const int without = shardings.front().fits_from;
  int first = 0;
  for (const auto& sharding : shardings) {
    const int from = sharding.fits_from;
    const bool earlier = from > 0 && (without == 0 || from < without);
    if (earlier && (first == 0 || from < first)) first = from;
  }
  return first;
}

}  // namespace

WorldPlan plan_world(const device::Facts& facts, const probe::Report& report, const Needs& needs,
                     const Wishes& wishes, const Plan& plan, const WorldWishes& world) {
  WorldPlan answer;
  answer.wire = find_interconnect(world.interconnect);
  answer.library = plan.distributed.value;
  answer.link = through(answer.wire, answer.library);
  answer.pace = find_pace(plan, needs, world.samples_per_second);
  const Question question{facts, report, needs, wishes, plan, answer};
  const auto alone = plan_of(question, 1);
  const std::int64_t micro_batches = alone ? alone->accumulation.value : plan.accumulation.value;
  for (int processes = 1; processes <= kMostProcesses; processes *= 2) {
    answer.sizes.push_back(size_of(question, processes, micro_batches));
  }
  answer.world = size_of(question, wishes.world_size, micro_batches);
  answer.shardings = shardings_of(question);
  answer.sharding_pays_from = pays_from(answer.shardings);
  const double backward = answer.pace.sample_ms * static_cast<double>(plan.micro_batch.value) *
                          answer.pace.backward_share;
  const double exchange = answer.world.exchange.ms;
  if (exchange > 0) answer.could_hide = std::min(1.0, backward / exchange);
  return answer;
}

}  // namespace ubique::plan
