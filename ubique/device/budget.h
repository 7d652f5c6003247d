// SPDX-License-Identifier: Apache-2.0
// How much of a device's memory a plan may use. A pure function of facts, so that a profile of
// another machine is treated like this one.
#pragma once

#include <cstdint>
#include <string>

#include "ubique/device/facts.h"

namespace ubique::device {

struct Budget {
  std::int64_t bytes = 0;
  std::string reason;  ///< "79.3 GiB free of 80.0 GiB, 4.0 GiB kept back"
};

/// Bytes kept back on a device of this size: 512 MiB or 5 %, whichever is more. They cover the
/// driver's context, fragmentation and other users of the same memory.
std::int64_t memory_margin(std::int64_t total_bytes);

/// CUDA and XPU: free (a profile: total) less the margin. Apple: the recommended working set less a
/// margin, or 80 % of RAM where it is unknown. CPU: available RAM (container limits are already in
/// total_bytes and free_bytes) less the margin. Never negative.
Budget memory_budget(const Facts& facts);

}  // namespace ubique::device
