// SPDX-License-Identifier: Apache-2.0
// Finds the backend of a device and asks it.
#include "ubique/device/collectives.h"

#include "ubique/device/backend.h"

namespace ubique::device {

const CollectivesLibrary* collectives_of(c10::Device device) {
  for (auto* backend : backends()) {
    if (backend->torch_device(0).type() != device.type()) continue;
    if (const auto* library = backend->collectives()) return library;
  }
  return nullptr;
}

}  // namespace ubique::device
