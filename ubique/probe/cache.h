// SPDX-License-Identifier: Apache-2.0
// Verdicts kept between runs, in cache_folder()/probes. A file is valid for one (torch, OS, driver,
// device, backend, probe version). Without a usable folder everything works, only slower.
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

/// What is known about this device from earlier runs. A damaged file counts as none, with a
/// warning.
std::optional<Report> load_cached_report(const device::Facts& facts);
/// Replaces what is kept, less what is worth retrying. A folder that cannot be written is warned of
/// once.
void store_report(const device::Facts& facts, const Report& report);

/// Verdicts for these probes: from the cache where it has them, run now (and kept) where not.
/// `refresh` runs all of them. Report::from_cache says that nothing had to be run.
Report recall_or_run(const device::Facts& facts, c10::Device device,
                     const std::vector<Probe>& probes, RunOptions options, bool refresh);

}  // namespace ubique::probe
