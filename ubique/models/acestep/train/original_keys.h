// SPDX-License-Identifier: Apache-2.0
// The arguments of the original's LoRA trainer as keys of a configuration. Each works, is refused
// by name, or is named as one that is decided otherwise here.
#pragma once

#include "ubique/base/config/config.h"

namespace ubique::acestep {

/// Gives our own keys the values of the original's, which makes these known. Usage error for a
/// value that has no counterpart.
void adopt_original_keys(Config& config);

}  // namespace ubique::acestep
