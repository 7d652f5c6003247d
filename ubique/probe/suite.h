// SPDX-License-Identifier: Apache-2.0
// The list of all probes, and running them. Caching is cache.h; what to do about failures is
// advice.h.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ubique/device/facts.h"
#include "ubique/probe/core/case.h"
#include "ubique/probe/core/probe.h"
#include "ubique/probe/core/verdict.h"

namespace ubique::probe {

/// Incremented when a probe or a tolerance changes so that old verdicts are no longer valid.
inline constexpr int kProbeVersion = 1;

struct RunOptions {
  /// Before each probe, and once at the end with an empty id.
  std::function<void(const std::string& id, std::size_t done, std::size_t total)> progress;
  double budget_seconds = 0;         ///< probes not begun by then are skipped; 0 = no limit
  bool timing = true;                ///< false: timed probes only compare numbers
  std::function<bool()> stop;        ///< true: the probes that are left are skipped
  std::uint64_t seed = 2011;         ///< with a probe's id it fixes the probe's inputs
  std::set<std::string> crashed;     ///< ids that crashed the process before: failed, not run
  std::filesystem::path crash_note;  ///< file for crash notes (crash_note.h); empty = none
};

/// The built-in probes and those of the extra cases, each id once, always in the same order.
std::vector<Probe> all_probes(const std::vector<Case>& extra = {});

/// Runs probes one after another in strict numerics. Exceptions become verdicts: a dtype or op that
/// the device refuses is Refused, memory that runs out Skipped, anything else Fail.
Report run_probes(const device::Facts& facts, c10::Device device, const std::vector<Probe>& probes,
                  const RunOptions& options = {});

/// Skipped for lack of time or memory, which another run may have.
bool worth_retrying(const Verdict& verdict);
/// Passed in a run that did not time it.
bool lacks_time(const Probe& probe, const Verdict& verdict);

/// Roughly how long these probes take, by the work of their references.
double estimated_seconds(const std::vector<Probe>& probes);

/// A report without verdicts, with the device and versions filled in.
Report empty_report(const device::Facts& facts);

}  // namespace ubique::probe
