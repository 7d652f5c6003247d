// SPDX-License-Identifier: Apache-2.0
// Configuration files of the StarCoder Metal + CUDA trainer that this family grew from, its
// canonical and its universal form. Every key works, is refused, or is named as one that does
// nothing.
#pragma once

#include <string>
#include <vector>

#include "ubique/base/config/config.h"

namespace ubique::codelm {

/// Gives our own keys the values of the original's, which makes these known. Usage error for a
/// value that has no counterpart. Logs once which of the keys that are given do nothing.
void adopt_original_keys(Config& config);

/// Of the keys that are given, those that did nothing in the original either.
std::vector<std::string> idle_original_keys(const Config& config);

}  // namespace ubique::codelm
