// SPDX-License-Identifier: Apache-2.0
// All rows of `ubique VERB codelm`.
#include "ubique/models/codelm/commands/commands.h"

#include "ubique/models/codelm/commands/data_commands.h"

namespace ubique::codelm {

std::vector<engine::Command> codelm_commands() {
  auto commands = data_commands();
  commands.push_back(run_command());
  commands.push_back(evaluate_command());
  commands.push_back(demo_command());
  return commands;
}

}  // namespace ubique::codelm
