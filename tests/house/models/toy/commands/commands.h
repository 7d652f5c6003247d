// SPDX-License-Identifier: Apache-2.0
// The rows of `ubique VERB toy`.
#pragma once

#include "ubique/engine/contract/family.h"

namespace ubique::toy {

engine::Command run_command();  ///< run toy

}  // namespace ubique::toy
