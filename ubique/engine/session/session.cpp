// SPDX-License-Identifier: Apache-2.0
// The device, its verdicts and the plan of one command.
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

/// Ops, beside its own convolutions and attention, whose verdicts the plan for this model reads.
std::vector<std::string> ops_used_by(const plan::Needs& needs) {
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
  const auto ops = ops_used_by(needs);
  auto probes = probe::all_probes(cases);
  std::erase_if(probes, [&](const probe::Probe& probe) {
    return !own.contains(probe.id()) &&
           std::none_of(ops.begin(), ops.end(),
                        [&](const std::string& op) { return is_under(probe.op, op); });
  });
  return probes;
}

/// All verdicts known for this device, at least those that the model needs.
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

Session::Session(const Request& request, plan::Mode mode)
    : wishes(plan::read_wishes(request.config)), fallback_(request.fallback) {
  wishes.mode = mode;
}

Session::Session(plan::Plan plan) : plan_(std::move(plan)) {
  wishes.device = plan_.device.value;
  device();
  apply_numerics();
}

Session::Session(const plan::Needs& needs, plan::Wishes given) : wishes(std::move(given)) {
  start(needs);
}

const device::Selection& Session::device() {
  if (selection_) return *selection_;
  if (wishes.deterministic) device::announce_determinism();
  device::announce_memory_cap(wishes.memory);
  selection_ = device::select(device::parse_request(wishes.device), fallback_);
  if (fallback_) wishes.device = selection_->facts.backend;
  return *selection_;
}

void Session::start(const plan::Needs& needs) {
  const auto& selection = device();
  plan_ = plan::make_plan(selection.facts, verdicts(selection, needs), needs, wishes);
  apply_numerics();
}

void Session::apply_numerics() const {
  device::apply_numerics(torch_device(), {.tf32 = plan_.tf32.value,
                                          .deterministic = plan_.deterministic.value,
                                          .autotune = plan_.autotune.value,
                                          .threads = plan_.compute_threads.value});
}

Session open_run_session(const Request& request, const plan::Needs& needs) {
  Session session(request, plan::Mode::Run);
  start_run_session(session, request, needs);
  return session;
}

void start_run_session(Session& session, const Request& request, const plan::Needs& needs) {
  request.config.finish();
  session.start(needs);
}

}  // namespace ubique::engine
