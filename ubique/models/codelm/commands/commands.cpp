// SPDX-License-Identifier: Apache-2.0
// All rows of `ubique VERB codelm`.
#include "ubique/models/codelm/commands/commands.h"

namespace ubique::codelm {

std::vector<engine::Command> codelm_commands() { return {run_command(), evaluate_command()}; }

}  // namespace ubique::codelm
