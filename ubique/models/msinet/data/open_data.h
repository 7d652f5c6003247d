// SPDX-License-Identifier: Apache-2.0
// Data sets by name or by folder, from the flags that train and evaluate share.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ubique/base/config/config.h"
#include "ubique/data/images/datasets.h"
#include "ubique/engine/contract/request.h"

namespace ubique::msinet {

/// Flags of every command that takes a data set.
std::vector<engine::Option> saliency_data_options();
/// Keys: data (a folder), dataset (a name of the catalogue or of a folder in DATA), stimuli, maps,
/// fixations, sigma, blur, valid_share. `size` is the network's. Usage error that says what is
/// missing.
data::SaliencyData open_data(const Config& config, const std::array<std::int64_t, 2>& size,
                             int threads);

/// Threads of this machine, at least 1.
int hardware_threads();

}  // namespace ubique::msinet
