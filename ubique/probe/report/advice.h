// SPDX-License-Identifier: Apache-2.0
// Turns verdicts into plain sentences: what to avoid on this device, and what to use instead.
#pragma once

#include <string>
#include <vector>

#include "ubique/probe/core/verdict.h"

namespace ubique::probe {

/// One sentence per thing to avoid, in the order of the report; empty if there is nothing.
/// "conv3d.dilated, f32, contiguous: use channels_last (error 0.31, allowed 2e-06)".
std::vector<std::string> advice(const Report& report);

/// The verdict farthest above its tolerance, else a refused one, else the one nearest to its
/// tolerance.
const Verdict* worst_of(const std::vector<const Verdict*>& verdicts);

}  // namespace ubique::probe
