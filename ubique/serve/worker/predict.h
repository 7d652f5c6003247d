// SPDX-License-Identifier: Apache-2.0
// How much memory a job will take, as far as the plan can say before it runs, and how much its
// device has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ubique/serve/machine/activity.h"
#include "ubique/serve/services/services.h"
#include "ubique/serve/worker/context.h"

namespace ubique::serve {

/// Of a training what its plan predicts (`train --dry-run`); of other jobs with a model its files,
/// which it will hold at least. Nothing where neither can be told: then the command itself checks.
std::optional<std::int64_t> predicted_memory(const Job& job, Services& services);

/// "cpu", "cuda:1". Nothing for devices whose memory the system does not tell.
std::optional<LaneMemory> memory_of_lane(const std::string& lane, const Activity& activity);

}  // namespace ubique::serve
