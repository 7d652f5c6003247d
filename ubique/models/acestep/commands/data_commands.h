// SPDX-License-Identifier: Apache-2.0
// The commands that prepare songs for training and score models on them.
#pragma once

#include "ubique/engine/contract/request.h"

namespace ubique::acestep {

engine::Command data_prepare_command();  ///< sound and texts to latents and tokens
engine::Command data_show_command();     ///< what a prepared folder holds
engine::Command evaluate_command();      ///< loss on held-out songs, losses of the codec

}  // namespace ubique::acestep
