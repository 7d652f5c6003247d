// SPDX-License-Identifier: Apache-2.0
// Queries on a probe report: which op, in which dtype and layout, is wrong, proven or timed. An
// empty report answers every query with "not measured".
#pragma once

#include <string>
#include <string_view>

#include "ubique/base/numbers/dtype.h"
#include "ubique/probe/core/verdict.h"

namespace ubique::plan {

class Evidence {
 public:
  /// Gradient verdicts count only if the plan is for training. Probes that took no longer than
  /// `launch_ms` timed the launch and not the arithmetic: they count as not timed.
  Evidence(const probe::Report& report, bool with_gradients, double launch_ms)
      : report_(report), with_gradients_(with_gradients), launch_ms_(launch_ms) {}

  bool empty() const { return report_.empty(); }
  /// The verdict that rules this op out in this dtype (and layout), or nullptr. "conv3d" covers
  /// "conv3d.dilated" too.
  const probe::Verdict* fault(std::string_view op, DType dtype) const;
  const probe::Verdict* fault(std::string_view op, DType dtype, probe::Layout layout) const;
  /// The same in any dtype.
  const probe::Verdict* fault(std::string_view op) const;
  /// Computed wrongly. (What is refused fails loudly where it is used.)
  const probe::Verdict* wrong(std::string_view op, DType dtype) const;
  /// Was it probed there, and did every probe pass?
  bool proven(std::string_view op, DType dtype) const;
  bool proven(std::string_view op, DType dtype, probe::Layout layout) const;
  /// Mean milliseconds on the device over the probes of this op; 0 = not timed.
  double time(std::string_view op, DType dtype, probe::Layout layout) const;
  /// Of the fastest layout that passed; 0 = not timed.
  double best_time(std::string_view op, DType dtype) const;
  /// Total time of this op's probes on the device over their total time on this machine's CPU;
  /// totals, so that no small case decides alone. 0 = not timed.
  double cpu_ratio(std::string_view op) const;

 private:
  template <typename Match>
  const probe::Verdict* first(std::string_view op, Match match) const;

  const probe::Report& report_;
  bool with_gradients_;
  double launch_ms_;
};

/// "conv3d.dilated/f16/contiguous failed its probe (error 0.3, tolerance 0.001: ...)".
std::string describe(const probe::Verdict& verdict);

}  // namespace ubique::plan
