// SPDX-License-Identifier: Apache-2.0
// Torch's process-wide switches for precision and determinism.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace ubique::device {

struct NumericsOptions {
  bool tf32 = false;
  bool deterministic = false;        ///< deterministic algorithms only; an op without one throws
  bool autotune = false;             ///< the convolution library times its algorithms
  int threads = 0;                   ///< of the CPU; 0 = leave unchanged
  bool threads_follow_load = false;  ///< fewer while other programs keep the cores busy
};

void apply_numerics(c10::Device device, const NumericsOptions& options);

/// For determinism, call this before the first device is used: cuBLAS reads its setting once.
void announce_determinism();

/// Call this before the first device is used, too: devices whose allocator supports a memory cap
/// are opened with it, so that even the vendor's libraries stay below. 0 = no cap (the default).
void announce_memory_cap(std::int64_t bytes);
std::int64_t announced_memory_cap();

}  // namespace ubique::device
