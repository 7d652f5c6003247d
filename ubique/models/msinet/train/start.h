// SPDX-License-Identifier: Apache-2.0
// Which weights a training begins with.
#pragma once

#include <optional>

#include "ubique/engine/contract/family.h"
#include "ubique/models/msinet/net/weights.h"

namespace ubique::msinet {

/// What files of a training are called: --dataset, else the folder of the pictures.
std::string dataset_label(const Config& config);

/// --model: a checkpoint, a file, or a folder of named weights (this data set's, else SALICON's).
/// Else, with --results, the order of MSI-Net's programs: the latest weights of this data set (of
/// this device, else of another); for another known set than SALICON, the best SALICON ones (Input
/// error without); nothing, which means fresh weights. A run that goes on goes on with its own.
/// Without --results nothing is looked for: a run that shares no folder with others has no others
/// to go on from.
std::optional<MsiNetFile> start_file(const engine::Request& request);

}  // namespace ubique::msinet
