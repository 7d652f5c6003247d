// SPDX-License-Identifier: Apache-2.0
// Waits for the processes of a run.
#pragma once

#include "ubique/cli/launch/ranks.h"

namespace ubique::cli {

/// Until all have ended. The first that failed is reported, the others get time to find out; Ctrl-C
/// stops all. Returns the exit code of the first that failed, else 0.
int supervise(Ranks& ranks, const RanksPlan& plan);

}  // namespace ubique::cli
