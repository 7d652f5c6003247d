// SPDX-License-Identifier: Apache-2.0
// CUDA graphs: implements device/recording.h on NVIDIA cards.
#pragma once

#include "ubique/device/recording.h"

namespace ubique::backend::cuda {

std::unique_ptr<device::Recording> record(c10::Device device, const std::string& name,
                                          const std::function<void()>& work,
                                          const device::Recording* beside);

}  // namespace ubique::backend::cuda
