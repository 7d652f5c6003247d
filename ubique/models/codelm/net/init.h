// SPDX-License-Identifier: Apache-2.0
// Fresh weights of a new network, the same on every device.
#pragma once

#include "ubique/base/numbers/random.h"
#include "ubique/models/codelm/net/network.h"

namespace ubique::codelm {

/// Matrices from a normal distribution with the configuration's range, those that write into the
/// residual stream narrower by √(2·layers); norms 1, biases 0.
void initialize(Codelm& network, const Random& random);

}  // namespace ubique::codelm
