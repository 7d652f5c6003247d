// SPDX-License-Identifier: Apache-2.0
// What `convert acestep` writes.
#pragma once

#include <vector>

#include "ubique/engine/contract/format.h"

namespace ubique::acestep {

/// checkpoint; upstream and peft (an adapter); merged (the folder of a whole model).
std::vector<engine::Format> acestep_formats();

}  // namespace ubique::acestep
