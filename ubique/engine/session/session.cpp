// SPDX-License-Identifier: Apache-2.0
// The device, its verdicts and the plan of one command.
#include "ubique/engine/session/session.h"

#include "ubique/base/terminal/log.h"
#include "ubique/device/numerics.h"
#include "ubique/dist/world.h"
#include "ubique/engine/session/first_use.h"
#include "ubique/engine/session/rank_wishes.h"
#include "ubique/plan/report.h"

namespace ubique::engine {

Session::Session(const Request& request, plan::Mode mode)
    : wishes(plan::read_wishes(request.config)),
      fallback_(request.fallback),
      stop_(request.stop_requested) {
  wishes.mode = mode;
  share_machine(dist::world().place(), wishes);
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
  plan_ = probed_plan({selection.facts, needs, wishes}, selection.torch_device, stop_);
  log::info_once("Using device: " + plan::device_line(plan_, wishes));
  apply_numerics();
}

void Session::apply_numerics() const {
  device::apply_numerics(torch_device(), {.tf32 = plan_.tf32.value,
                                          .deterministic = plan_.deterministic.value,
                                          .autotune = plan_.autotune.value,
                                          .threads = plan_.compute_threads.value,
                                          .threads_follow_load = plan_.threads_follow_load});
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
