// SPDX-License-Identifier: Apache-2.0
#include "ubique/engine/session/session.h"

#include <algorithm>
#include <set>

#include "ubique/base/terminal/log.h"
#include "ubique/device/numerics.h"
#include "ubique/probe/cache.h"
#include "ubique/probe/probes/cases.h"
#include "ubique/probe/suite.h"

namespace ubique::engine {
namespace {

/// Ops, beside its own convolutions and attention, whose verdicts a plan for this model looks at.
std::vector<std::string> leaned_on(const plan::Needs& needs) {
  auto ops = needs.ops;
  for (const char* op : {"transfer", "views"}) ops.emplace_back(op);
  if (needs.tolerates_bf16 || needs.tolerates_f16) ops.emplace_back("autocast");
  if (needs.dropout && needs.checkpointing.supported) ops.emplace_back("checkpoint");
  return ops;
}

bool is_under(const std::string& op, const std::string& prefix) {
  return op == prefix || op.starts_with(prefix + ".");
}

std::vector<probe::Probe> needed_probes(const plan::Needs& needs) {
  const auto cases = plan::probe_cases(needs);
  std::set<std::string> own;
  for (const auto& request : cases) {
    for (const auto& probe : probe::probes_of(request)) own.insert(probe.id());
  }
  const auto ops = leaned_on(needs);
  auto probes = probe::all_probes(cases);
  std::erase_if(probes, [&](const probe::Probe& probe) {
    return !own.contains(probe.id()) &&
           std::none_of(ops.begin(), ops.end(),
                        [&](const std::string& op) { return is_under(probe.op, op); });
  });
  return probes;
}

/// Everything that is known of this device, at least what the model needs.
probe::Report verdicts(const device::Selection& selection, const plan::Needs& needs) {
  const auto probes = needed_probes(needs);
  probe::RunOptions options;
  options.progress = [&](const std::string&, std::size_t done, std::size_t total) {
    if (done == 0 && total > 0) {
      log::info("first use of {} for {}: {} probes of what it computes (ubique doctor shows them)",
                selection.facts.label(), needs.name, total);
    }
  };
  auto report = probe::recall_or_run(selection.facts, selection.torch_device, probes,
                                     std::move(options), /*refresh=*/false);
  auto known = probe::load_cached_report(selection.facts);
  const bool is_more = known && known->verdicts.size() > report.verdicts.size();
  return is_more ? std::move(*known) : std::move(report);
}

}  // namespace

device::Selection open_device(plan::Wishes& wishes, bool fallback) {
  if (wishes.deterministic) device::announce_determinism();
  device::announce_memory_cap(wishes.memory);
  auto selection = device::select(device::parse_request(wishes.device), fallback);
  if (fallback) wishes.device = selection.facts.backend;
  return selection;
}

Session open_session(const plan::Needs& needs, plan::Wishes wishes, bool fallback) {
  Session session;
  session.device = open_device(wishes, fallback);
  const auto report = verdicts(session.device, needs);
  session.plan = plan::make_plan(session.device.facts, report, needs, wishes);
  return session;
}

void apply(const plan::Plan& plan) {
  const auto device = device::select(device::parse_request(plan.device.value)).torch_device;
  device::apply_numerics(device, {.tf32 = plan.tf32.value,
                                  .deterministic = plan.deterministic.value,
                                  .autotune = plan.autotune.value,
                                  .threads = plan.compute_threads.value});
}

}  // namespace ubique::engine
