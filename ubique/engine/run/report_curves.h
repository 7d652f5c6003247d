// SPDX-License-Identifier: Apache-2.0
// The charts of a run's records.
#pragma once

#include <cstdint>
#include <vector>

#include "ubique/engine/run/report_chart.h"
#include "ubique/engine/run/run_folder.h"

namespace ubique::engine {

/// Loss, scores, learning rate, gradient norm, throughput and memory; charts may be empty.
std::vector<Chart> run_charts(const std::vector<StepRecord>& steps,
                              const std::vector<EpochRecord>& epochs, std::int64_t predicted_bytes);

}  // namespace ubique::engine
