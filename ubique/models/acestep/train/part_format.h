// SPDX-License-Identifier: Apache-2.0
// Exports a trained autoencoder or vocoder as the folder of that part.
#pragma once

#include "ubique/engine/contract/format.h"

namespace ubique::acestep {

/// "part": config.json and weights under the original's names, for a model's folder.
engine::Format part_format();

}  // namespace ubique::acestep
