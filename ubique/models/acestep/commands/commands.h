// SPDX-License-Identifier: Apache-2.0
// The rows of `ubique VERB acestep`.
#pragma once

#include <vector>

#include "ubique/engine/contract/request.h"

namespace ubique::acestep {

std::vector<engine::Command> acestep_commands();  ///< all of them

engine::Command run_command();  ///< makes songs

}  // namespace ubique::acestep
