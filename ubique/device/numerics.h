// SPDX-License-Identifier: Apache-2.0
// Torch's process-wide switches for how exact and how repeatable arithmetic is.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace ubique::device {

struct NumericsOptions {
  bool tf32 = false;
  bool deterministic = false;  ///< only algorithms that repeat themselves; an op without one throws
  bool autotune = false;       ///< the convolution library times its algorithms
  int threads = 0;             ///< of the CPU; 0 = as they are
};

void apply_numerics(c10::Device device, const NumericsOptions& options);

/// To be called before the first device is touched if determinism is wanted: the matrix library
/// reads its setting once.
void announce_determinism();

/// Likewise for the most memory that may be taken: devices whose allocator can hold a cap are
/// opened with it, so that even the vendor's libraries stay below. 0 = no cap, as at first.
void announce_memory_cap(std::int64_t bytes);
std::int64_t announced_memory_cap();

}  // namespace ubique::device
