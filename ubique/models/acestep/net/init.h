// SPDX-License-Identifier: Apache-2.0
// Fresh weights of any of the networks.
#pragma once

#include "ubique/base/numbers/random.h"
#include "ubique/nn/layers/network.h"

namespace ubique::acestep {

/// Norms 1, biases 0, matrices and kernels normal by their fan-in, modulation tables small; each
/// parameter from a stream of its own.
void initialize(nn::Network& network, const Random& random);

}  // namespace ubique::acestep
