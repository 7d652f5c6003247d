// SPDX-License-Identifier: Apache-2.0
// Verdicts kept between runs, in cache_folder()/probes. A file is valid for one combination of
// torch, OS, driver, device, backend and probe version. Without a writable folder everything works,
// only slower.
#pragma once

#include <c10/core/Device.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ubique/device/facts.h"
#include "ubique/probe/core/verdict.h"
#include "ubique/probe/suite.h"

namespace ubique::probe {

/// What a cached report is valid for, as one line of text. A pretend device adds its configuration.
std::string cache_key(const device::Facts& facts);
std::filesystem::path cache_path(const device::Facts& facts);

/// The verdicts of earlier runs on this device. A damaged file counts as none, with a warning.
std::optional<Report> load_cached_report(const device::Facts& facts);
/// Replaces the stored report, without verdicts that are worth retrying. Warns once if the folder
/// cannot be written.
void store_report(const device::Facts& facts, const Report& report);

/// Old verdicts, replaced by fresh ones of the same id; new ones are appended.
Report merge(Report old, const Report& fresh);

/// Verdicts for these probes: cached ones, and fresh ones (then stored) for the rest. `refresh`
/// runs all of them. A probe that an earlier run did not time is run again.
/// Report::from_cache tells that nothing had to be run.
Report recall_or_run(const device::Facts& facts, c10::Device device,
                     const std::vector<Probe>& probes, RunOptions options, bool refresh);

}  // namespace ubique::probe
