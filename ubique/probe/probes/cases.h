// SPDX-License-Identifier: Apache-2.0
// Turns a Case (plain data, possibly from a file) into probes.
//
// op            shape                        uses
// matmul        (M, K) or (B, M, K)          out_channels = columns of the right-hand side
// linear        (..., C)                     out_channels
// conv1d/2d/3d  (B, C, extents...)           out_channels, kernel, dilation, layouts
// batch_norm2d/3d (B, C, extents...)         layouts
// layer_norm    (..., C)                     frozen_input
// attention     (B, T) or (B, queries, keys) heads, kv_heads, head_dim, causal, window
// cumsum        (rows, N)
#pragma once

#include <string>
#include <vector>

#include "ubique/probe/core/case.h"
#include "ubique/probe/core/probe.h"

namespace ubique::probe {

/// The ops a Case may name.
std::vector<std::string> case_ops();
/// Input error that says which field is wrong: an unknown op, a shape of the wrong rank, a size
/// that is not positive or too large to probe, channels_last without channels, a dtype without
/// arithmetic.
void validate(const Case& request);
/// Validates the case, then makes probes for one or more ops (attention: each method), forward and
/// gradient, per dtype and layout.
std::vector<Probe> probes_of(const Case& request);

}  // namespace ubique::probe
