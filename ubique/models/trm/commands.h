// SPDX-License-Identifier: Apache-2.0
// What a person can do with a trained TRM: one function per row of `ubique VERB trm`, one file
// each. Making data is in commands_data.h, talking in commands_chat.h.
#pragma once

#include "ubique/engine/family.h"

namespace ubique::trm {

engine::Command run_command();       ///< run trm: puzzles, or chat
engine::Command evaluate_command();  ///< evaluate trm
engine::Command demo_command();      ///< demo trm

}  // namespace ubique::trm
