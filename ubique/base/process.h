// SPDX-License-Identifier: Apache-2.0
// Other programs, started and waited for.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ubique {

/// Runs a program (looked for on PATH) with its output thrown away and gives its exit code, 128 + N
/// if signal N ended it; nothing if there is no such program.
std::optional<int> run_program(const std::vector<std::string>& arguments);

}  // namespace ubique
