// SPDX-License-Identifier: Apache-2.0
// Chooses probes by plan, mode and kind of device; runs them within a budget.
#include "ubique/engine/session/first_use.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "ubique/base/terminal/log.h"
#include "ubique/probe/cache.h"
#include "ubique/probe/probes/cases.h"
#include "ubique/probe/suite.h"

namespace ubique::engine {
namespace {

using device::Kind;
using probe::Layout;

constexpr double kProbeSeconds = 9;  // of one command; what it leaves, the next one does
constexpr std::size_t kTimedConvs = 3;

bool contains(const auto& list, const auto& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool is_under(const std::string& op, const std::string& prefix) {
  return op == prefix || op.starts_with(prefix + ".");
}

bool is_timed_conv(const probe::Case& request) {
  return request.timed && request.op.starts_with("conv");
}

bool has_layouts(const std::string& op) {
  return op.starts_with("conv2d") || op.starts_with("conv3d") || op.starts_with("batch_norm") ||
         op == "image";
}

/// What one call may compute in.
struct Scope {
  std::vector<DType> dtypes;
  std::vector<Layout> layouts;
  bool gradients = false;
  bool is_reference = false;  ///< a CPU: probes only decide between alternatives

  bool includes(const probe::Probe& probe) const;
};

bool Scope::includes(const probe::Probe& probe) const {
  if (probe.gradient && !gradients) return false;
  if (has_layouts(probe.op) && !contains(layouts, probe.layout)) return false;
  // Norms, losses and optimizers stay in f32 whatever the dtype of the products.
  return contains(dtypes, probe.dtype) || (!probe.timed && probe.dtype == DType::F32);
}

bool anything_failed(const probe::Report& known) {
  return std::any_of(known.verdicts.begin(), known.verdicts.end(),
                     [](const auto& verdict) { return verdict.outcome == probe::Outcome::Fail; });
}

Scope scope_of(const FirstUse& call, const plan::Plan& plan, const probe::Report& known) {
  const auto& [facts, needs, wishes] = call;
  Scope scope;
  scope.dtypes = {plan.dtype.value};
  scope.layouts = {plan.memory_format.value};
  scope.gradients = wishes.mode == plan::Mode::Train;
  scope.is_reference = facts.kind == Kind::Cpu;
  // CUDA has a default for every model, and small probes time launches there: the alternatives
  // matter only if something is wrong.
  if (facts.kind == Kind::Cuda && !anything_failed(known)) return scope;
  for (const auto dtype : plan::dtype_candidates(facts, needs, wishes)) {
    if (!contains(scope.dtypes, dtype)) scope.dtypes.push_back(dtype);
  }
  const bool own_kernels = scope.is_reference && needs.host.own_kernels;
  const bool may_choose = wishes.channels_last == plan::Toggle::Auto && !own_kernels;
  if (may_choose && (needs.has_conv(2) || needs.has_conv(3))) {
    scope.layouts = {Layout::Contiguous, Layout::ChannelsLast};
  }
  return scope;
}

/// Ops, beside its own convolutions and attention, whose verdicts the plan for this model reads.
std::vector<std::string> ops_used_by(const plan::Needs& needs, const Scope& scope) {
  if (scope.is_reference && scope.dtypes.size() == 1) return {};
  auto ops = needs.ops;
  ops.emplace_back("autocast");
  if (scope.is_reference) return ops;
  for (const char* op : {"elementary", "transfer", "views"}) ops.emplace_back(op);
  if (needs.has_conv(2)) ops.emplace_back("image");
  if (scope.gradients && needs.dropout && needs.checkpointing.supported) {
    ops.emplace_back("checkpoint");
  }
  return ops;
}

/// The model's own cases, of which the heaviest convolutions are timed: the time of the same few in
/// each dtype and layout decides between them.
std::vector<probe::Case> own_cases(const plan::Needs& needs) {
  auto cases = plan::probe_cases(needs);
  std::stable_sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) {
    return is_timed_conv(a) && (!is_timed_conv(b) || probe::conv_work(a) > probe::conv_work(b));
  });
  for (std::size_t i = kTimedConvs; i < cases.size(); ++i) cases[i].timed = false;
  return cases;
}

/// The ids of the model's own probes: timed ones in the whole scope, the others as the plan has
/// them; on a CPU only what decides.
std::set<std::string> own_probes(const std::vector<probe::Case>& cases, const Scope& scope,
                                 const plan::Plan& plan) {
  std::set<std::string> own;
  const bool decides = scope.dtypes.size() > 1 || scope.layouts.size() > 1;
  for (const auto& request : cases) {
    for (const auto& probe : probe::probes_of(request)) {
      const bool planned = probe.dtype == plan.dtype.value &&
                           (!has_layouts(probe.op) || probe.layout == plan.memory_format.value);
      const bool wanted = scope.is_reference ? probe.timed && decides : probe.timed || planned;
      if (wanted) own.insert(probe.id());
    }
  }
  return own;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void announce(const FirstUse& call, const std::vector<probe::Probe>& probes) {
  const double seconds = std::clamp(probe::estimated_seconds(probes), 1.0, kProbeSeconds);
  log::info("first use of {} on {}: {} checks, about {:.0f} s; kept in {}", call.needs.name,
            call.facts.backend, probes.size(), seconds,
            probe::cache_path(call.facts).parent_path().string());
}

/// Half of the times decide nothing: they are of other sizes in one layout than in the other. What
/// was timed counts as not measured then, and the plan takes its defaults.
probe::Report without_timed(probe::Report report) {
  std::erase_if(report.verdicts, [](const auto& verdict) { return verdict.device_ms > 0; });
  return report;
}

}  // namespace

std::vector<probe::Probe> first_use_probes(const FirstUse& call, const plan::Plan& plan,
                                           const probe::Report& known) {
  const auto scope = scope_of(call, plan, known);
  const auto cases = own_cases(call.needs);
  const auto own = own_probes(cases, scope, plan);
  const auto ops = ops_used_by(call.needs, scope);
  const auto is_used = [&](const probe::Probe& probe) {
    return own.contains(probe.id()) ||
           std::any_of(ops.begin(), ops.end(),
                       [&](const std::string& op) { return is_under(probe.op, op); });
  };
  auto probes = probe::all_probes(cases);
  std::erase_if(probes, [&](const probe::Probe& probe) {
    const auto* verdict = known.find(probe.id());
    const bool is_known = verdict != nullptr && !probe::lacks_time(probe, *verdict);
    return !is_used(probe) || !scope.includes(probe) || is_known;
  });
  std::stable_sort(probes.begin(), probes.end(),
                   [](const auto& a, const auto& b) { return a.work < b.work; });
  return probes;
}

plan::Plan probed_plan(const FirstUse& call, c10::Device device,
                       const std::function<bool()>& stop) {
  const auto start = std::chrono::steady_clock::now();
  auto known = probe::load_cached_report(call.facts).value_or(probe::empty_report(call.facts));
  std::set<std::string> tried;
  std::ptrdiff_t left = 0;
  for (;;) {  // the plan that the verdicts lead to may rest on others
    auto plan = plan::make_plan(call.facts, left == 0 ? known : without_timed(known), call.needs,
                                call.wishes);
    auto probes = first_use_probes(call, plan, known);
    std::erase_if(probes, [&](const auto& probe) { return tried.contains(probe.id()); });
    if (probes.empty() || (stop && stop())) {
      if (left > 0) log::info("{} checks are left for the next use; defaults until then", left);
      return plan;
    }
    if (tried.empty()) announce(call, probes);
    for (const auto& probe : probes) tried.insert(probe.id());
    probe::RunOptions options;
    options.budget_seconds = std::max(kProbeSeconds - seconds_since(start), 1e-3);
    options.stop = stop;
    const auto fresh = probe::recall_or_run(call.facts, device, probes, std::move(options),
                                            /*refresh=*/false);
    left += std::count_if(fresh.verdicts.begin(), fresh.verdicts.end(), probe::worth_retrying);
    known = probe::merge(std::move(known), fresh);
  }
}

}  // namespace ubique::engine
