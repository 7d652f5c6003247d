// SPDX-License-Identifier: Apache-2.0
// The commands of this family: one function per `ubique VERB msinet`, one file each.
#pragma once

#include "ubique/engine/contract/request.h"

namespace ubique::msinet {

engine::Command synth_command();     ///< data msinet synth
engine::Command evaluate_command();  ///< evaluate msinet
engine::Command run_command();       ///< run msinet
engine::Command demo_command();      ///< demo msinet

}  // namespace ubique::msinet
