// SPDX-License-Identifier: Apache-2.0
// Bytes of tensors on the CPU, now and at most: the figure that accelerators' allocators keep by
// themselves. Memory that is mapped, pinned or taken by libraries behind torch's back is not in it.
#pragma once

#include <cstdint>

namespace ubique::device {

struct CpuMemory {
  std::int64_t current_bytes = 0;
  std::int64_t peak_bytes = 0;  ///< since the last reset
};

/// Tensors are counted from the moment this library is loaded.
CpuMemory cpu_tensor_memory();
void reset_cpu_tensor_peak();

}  // namespace ubique::device
