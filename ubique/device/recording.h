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
std::unique_ptr<Recording> record(c10::Device device, const std::string& name,
                                  const std::function<void()>& work);

}  // namespace ubique::device
