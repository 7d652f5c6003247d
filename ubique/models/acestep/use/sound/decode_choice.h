// SPDX-License-Identifier: Apache-2.0
// How sound is decoded on a device: in how large tiles, and in which number format.
#pragma once

#include "ubique/device/facts.h"
#include "ubique/models/acestep/use/sound/decode_stream.h"
#include "ubique/plan/plan.h"

namespace ubique::acestep {

/// Latent frames at once: more on accelerators with memory to spare.
std::int64_t decode_tile(const device::Facts& facts);

/// Whether autoencoder and vocoder decode in f16: where the plan allows TF32, which has no more
/// bits, and the person did not ask for f32.
bool halves_decoder(const plan::Plan& plan);

}  // namespace ubique::acestep
