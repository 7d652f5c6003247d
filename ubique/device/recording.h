// SPDX-License-Identifier: Apache-2.0
// Device work that is recorded once and then launched as one (a CUDA graph). Without it, a network
// of many small kernels is limited by their launches.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <memory>
#include <string>

namespace ubique::device {

class Recording {
 public:
  virtual ~Recording() = default;
  /// Runs the recorded work again on the same memory, on the device's current stream.
  virtual void replay() = 0;
};

/// Runs `work` a few times to warm up, so that libraries choose their algorithms, then records it.
/// The work must read and write the same memory every time and never synchronise with the host.
/// nullptr if the device cannot record, or the work cannot be recorded: a warning says why, and
/// calls the work by its `name` ("a training update").
/// `beside` (of the same device, may be null): the two share the memory of their intermediate
/// values, so they are never replayed at the same time, and what one wrote to memory of its own is
/// read before the other is replayed.
std::unique_ptr<Recording> record(c10::Device device, const std::string& name,
                                  const std::function<void()>& work,
                                  const Recording* beside = nullptr);

/// What record() does with the work, in whatever thread it computes.
enum class RecordingPhase {
  None,
  Rehearsal,  ///< runs that warm up
  Capture,    ///< nothing is computed; the device's random generators have no state to ask for
};
RecordingPhase recording_phase();

/// The phase while it lives; for backends.
class InRecordingPhase {
 public:
  explicit InRecordingPhase(RecordingPhase phase);
  ~InRecordingPhase();
  InRecordingPhase(const InRecordingPhase&) = delete;
  InRecordingPhase& operator=(const InRecordingPhase&) = delete;

 private:
  RecordingPhase before_;
};

}  // namespace ubique::device
