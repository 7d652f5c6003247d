// SPDX-License-Identifier: Apache-2.0
// Initial weights of a network.
#pragma once

#include "ubique/base/numbers/random.h"

namespace ubique::meshnet {

class MeshNet;

/// Draws fresh weights on the host: the same bits on every device and machine.
void initialize(MeshNet& network, const Random& random);

}  // namespace ubique::meshnet
