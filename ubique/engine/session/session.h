// SPDX-License-Identifier: Apache-2.0
// One command's device and plan. A command makes one session and hands it down: the device is
// selected once, the verdicts of its probes are read once, the plan is made from both.
#pragma once

#include <functional>
#include <optional>

#include "ubique/device/select.h"
#include "ubique/engine/contract/request.h"
#include "ubique/plan/plan.h"

namespace ubique::engine {

class Session {
 public:
  /// Reads the person's wishes from the request; selects nothing yet.
  Session(const Request& request, plan::Mode mode);
  /// For a plan that was made elsewhere: selects the device that it names and sets torch up.
  explicit Session(plan::Plan plan);
  /// For programs without a request, such as benchmarks.
  Session(const plan::Needs& needs, plan::Wishes wishes);

  /// The device, selected at the first call; a command that must know it before there is a model
  /// asks here. After a fallback, `wishes.device` names the device really used. Device error if it
  /// is missing and no fallback was allowed.
  const device::Selection& device();
  /// Takes the device's cached verdicts (or probes what this call needs: the first use of a device
  /// is the time to find out, for some seconds), plans, logs device and dtype with the reason, and
  /// sets torch up as the plan says (threads, TF32, determinism, autotuning). May be called again
  /// for another model.
  void start(const plan::Needs& needs);

  /// After start().
  const plan::Plan& plan() const { return plan_; }
  const device::Facts& facts() const { return selection_->facts; }
  c10::Device torch_device() const { return selection_->torch_device; }

  plan::Wishes wishes;  ///< may be changed until start()

 private:
  void apply_numerics() const;

  bool fallback_ = false;
  std::function<bool()> stop_;  ///< ends the probes of a first use
  std::optional<device::Selection> selection_;
  plan::Plan plan_;
};

/// The session of a model that only runs: the request's wishes, started for these needs. Refuses
/// settings that nobody has read by now.
Session open_run_session(const Request& request, const plan::Needs& needs);
/// The same for a session that a command has made already.
void start_run_session(Session& session, const Request& request, const plan::Needs& needs);

}  // namespace ubique::engine
