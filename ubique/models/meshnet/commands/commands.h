// SPDX-License-Identifier: Apache-2.0
// The commands of `ubique VERB meshnet`; command_VERB.cpp implements them.
#pragma once

#include "ubique/engine/contract/family.h"

namespace ubique::meshnet {

engine::Command synth_command();       ///< data meshnet synth
engine::Command splits_command();      ///< data meshnet splits
engine::Command prepare_command();     ///< data meshnet prepare
engine::Command evaluate_command();    ///< evaluate meshnet
engine::Command experiment_command();  ///< experiment meshnet
engine::Command validate_command();    ///< validate meshnet
engine::Command run_command();         ///< run meshnet
engine::Command demo_command();        ///< demo meshnet

}  // namespace ubique::meshnet
