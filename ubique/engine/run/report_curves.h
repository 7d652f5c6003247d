// SPDX-License-Identifier: Apache-2.0
// Which charts a run's records make.
#pragma once

#include <cstdint>
#include <vector>

#include "ubique/engine/run/report_charts.h"
#include "ubique/engine/run/run_folder.h"

namespace ubique::engine {

/// Loss, scores, the trainer's own curves, throughput and memory; a chart without anything to show
/// is left out.
std::vector<Chart> run_charts(const std::vector<StepRecord>& steps,
                              const std::vector<EpochRecord>& epochs, std::int64_t predicted_bytes);

}  // namespace ubique::engine
