// SPDX-License-Identifier: Apache-2.0
// The loss curve that MSI-Net's own programs write beside the history: training and validation loss
// over the epochs.
#pragma once

#include <span>

#include "ubique/io/images/png.h"

namespace ubique::msinet {

/// One point per epoch; the lists may differ in length, and a value that is not finite breaks its
/// line.
io::Picture curve_picture(std::span<const double> train, std::span<const double> valid);

}  // namespace ubique::msinet
