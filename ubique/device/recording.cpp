// SPDX-License-Identifier: Apache-2.0
// Finds the backend of a device and asks it to record.
#include "ubique/device/recording.h"

#include <atomic>

#include "ubique/device/backend.h"

namespace ubique::device {
namespace {

// Of the process: gradients are computed by threads of their own.
std::atomic<RecordingPhase> phase_now = RecordingPhase::None;

}  // namespace

RecordingPhase recording_phase() { return phase_now.load(); }

InRecordingPhase::InRecordingPhase(RecordingPhase phase) : before_(phase_now.exchange(phase)) {}
InRecordingPhase::~InRecordingPhase() { phase_now.store(before_); }

std::unique_ptr<Recording> record(c10::Device device, const std::string& name,
                                  const std::function<void()>& work, const Recording* beside) {
  for (auto* backend : backends()) {
    if (backend->torch_device(0).type() != device.type()) continue;
    if (auto recording = backend->record(device, name, work, beside)) return recording;
  }
  return nullptr;
}

}  // namespace ubique::device
