// SPDX-License-Identifier: Apache-2.0
// All rows of `ubique VERB acestep`.
#include "ubique/models/acestep/commands/commands.h"

#include "ubique/models/acestep/commands/data_commands.h"
#include "ubique/models/acestep/commands/music_commands.h"

namespace ubique::acestep {

std::vector<engine::Command> acestep_commands() {
  auto commands = music_commands();
  for (auto& command : {data_prepare_command(), data_show_command(), run_command(),
                        evaluate_command(), evaluate_music_command(), demo_command()}) {
    commands.push_back(command);
  }
  return commands;
}

}  // namespace ubique::acestep
