// SPDX-License-Identifier: Apache-2.0
// Exchanges between the devices of the ranks by their own collectives (NCCL), while the host
// watches that no rank is lost.
#pragma once

#include <c10/core/Device.h>

#include <memory>

#include "ubique/device/collectives.h"
#include "ubique/dist/world.h"

namespace ubique::dist {

/// All ranks: for tensors on `device` if `library` can serve every rank, else `host` as it was
/// given, and the log says why. `library` may be none.
std::unique_ptr<Transport> connect_devices(const World& world, std::unique_ptr<Transport> host,
                                           c10::Device device,
                                           const device::CollectivesLibrary* library);

}  // namespace ubique::dist
