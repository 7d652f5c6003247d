// SPDX-License-Identifier: Apache-2.0
// Initial weights of a training run.
#pragma once

#include <optional>

#include "ubique/engine/contract/family.h"
#include "ubique/models/msinet/net/weights.h"

namespace ubique::msinet {

/// Label in the names of a run's result files: --dataset, else the folder of the pictures.
std::string dataset_label(const Config& config);

/// With --model: that checkpoint or file, or from a folder of named weights those of this data set,
/// else SALICON's. Else with --results, as MSI-Net's own programs: the latest weights of this data
/// set (of this device, else of another); for other known sets than SALICON the best SALICON
/// weights (Input error if there are none). A resumed run uses its own checkpoint. Nothing: the
/// weights are to be initialised.
std::optional<MsiNetFile> start_file(const engine::Request& request);

}  // namespace ubique::msinet
