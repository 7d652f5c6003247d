// SPDX-License-Identifier: Apache-2.0
// Current and peak bytes of CPU tensors, which accelerators' allocators count themselves. Mapped
// and pinned memory and what libraries allocate outside torch's allocator are not counted.
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
