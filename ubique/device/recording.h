// SPDX-License-Identifier: Apache-2.0
// Work on a device that is recorded once and from then on launched as one: a CUDA graph. A network
// of many small kernels waits for their launches otherwise.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <memory>

namespace ubique::device {

class Recording {
 public:
  virtual ~Recording() = default;
  /// The work once more, on the same memory, in the order of the device's current stream.
  virtual void replay() = 0;
};

/// Runs `work` a few times, so that libraries make their choices, then records it. The work must
/// read and write the same memory every time, and never ask the host. Nothing where the device
/// cannot record, or the work cannot be recorded (a warning says why).
std::unique_ptr<Recording> record(c10::Device device, const std::function<void()>& work);

}  // namespace ubique::device
