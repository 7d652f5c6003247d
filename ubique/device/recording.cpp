// SPDX-License-Identifier: Apache-2.0
// Finds the backend of a device and asks it to record.
#include "ubique/device/recording.h"

#include "ubique/device/backend.h"

namespace ubique::device {

std::unique_ptr<Recording> record(c10::Device device, const std::string& name,
                                  const std::function<void()>& work) {
  for (auto* backend : backends()) {
    if (backend->torch_device(0).type() != device.type()) continue;
    if (auto recording = backend->record(device, name, work)) return recording;
  }
  return nullptr;
}

}  // namespace ubique::device
