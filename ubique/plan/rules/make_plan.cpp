// SPDX-License-Identifier: Apache-2.0
// make_plan: calls the rules in their order.
#include "ubique/plan/plan.h"

#include <fmt/format.h>

#include "ubique/device/budget.h"
#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

/// Milliseconds of arithmetic at the datasheet's peak rate: a lower bound.
double compute_floor(const Context& context, const Plan& plan, double extra) {
  const auto& [facts, needs, wishes, evidence] = context;
  if (plan.dtype.value == DType::F32 && plan.tf32.value) return 0;  // the f32 rate is no bound then
  const double rate = is_half(plan.dtype.value) ? facts.tflops_half : facts.tflops_f32;
  const double train = needs.flops_train > 0 ? needs.flops_train : 3 * needs.flops_run;
  const double flops = context.train() ? train * (1 + extra) : needs.flops_run;
  const auto samples = static_cast<double>(plan.micro_batch.value * plan.accumulation.value);
  return rate > 0 ? flops * samples / (rate * 1e12) * 1e3 : 0;
}

Choice<std::int64_t> accumulate(const Context& context, const BatchTarget& target,
                                std::int64_t micro) {
  if (!context.train()) return {1, "no gradients to accumulate", {}};
  const auto steps = (target.per_device + micro - 1) / micro;
  if (steps == 1) return {1, "the whole batch goes through at once", {}};
  std::string reason =
      fmt::format("{} x {} keeps the effective batch at {}", micro, steps, target.effective);
  if (context.needs.uses_op("batch_norm2d") || context.needs.uses_op("batch_norm3d")) {
    reason += fmt::format("; batch norm sees {} samples at a time", micro);
  }
  return {steps, reason, {}};
}

std::string budget_reason(const Context& context) {
  const auto& facts = context.facts;
  auto reason = facts.budget_bytes > 0 ? facts.budget_reason : device::memory_budget(facts).reason;
  const bool capped = context.wishes.memory > 0;
  return capped ? "capped as asked; " + reason : reason;
}

}  // namespace

Plan make_plan(const device::Facts& facts, const probe::Report& report, const Needs& needs,
               const Wishes& wishes) {
  check_needs(needs);
  constexpr double kLaunchMs = 0.05;  // launch time of a small kernel on an accelerator
  const double launch_ms = facts.kind == device::Kind::Cpu ? 0 : kLaunchMs;
  const Context context{facts, needs, wishes,
                        Evidence(report, wishes.mode == Mode::Train, launch_ms)};
  refuse_impossible(context);
  const auto target = choose_target(context);
  const auto fit = find_fit(context, target, rank_dtypes(context));

  Plan plan;
  plan.machine = facts.label();
  plan.profile = facts.profile;
  plan.needs = needs.name;
  plan.mode = wishes.mode;
  plan.device = choose_device(context);
  plan.dtype = {fit.option.dtype, fit.option.reason, fit.rejected_dtypes};
  plan.dtype.reason += given_up(context, plan.dtype);
  plan.autocast = choose_autocast(context, plan.dtype.value);
  plan.grad_scaler = choose_scaler(context, plan.dtype.value);
  plan.memory_format = choose_layout(context, plan.dtype.value);
  plan.attention = fit.attention;
  plan.micro_batch = fit.micro_batch;
  plan.micro_batch_asked = wishes.batch > 0;
  plan.accumulation = accumulate(context, target, fit.micro_batch.value);
  plan.effective_batch.value =
      plan.mode == Mode::Train
          ? target.effective
          : plan.micro_batch.value * plan.accumulation.value * wishes.world_size;
  plan.effective_batch.reason = target.reason;
  plan.checkpointing = fit.checkpointing;
  plan.segments = fit.checkpointing.value ? fit.level.segments : 0;
  plan.in_turn = fit.in_turn;
  plan.longest = {needs.length.unit, needs.length.most, fit.longest};
  plan.pad_channels = choose_padding(context, plan.dtype.value);
  choose_runtime(context, plan);
  choose_numerics(context, plan);
  plan.distributed = choose_distributed(context);
  plan.shard = fit.shard;
  plan.workarounds = choose_workarounds(context, plan.dtype.value);
  plan.memory = fit.memory;
  plan.budget_reason = budget_reason(context);
  plan.floor_ms = compute_floor(context, plan, fit.checkpointing.value ? fit.level.extra : 0);
  return plan;
}

}  // namespace ubique::plan
