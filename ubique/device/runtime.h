// SPDX-License-Identifier: Apache-2.0
// Operations that every device has: synchronise, empty caches, seed, memory statistics, recognise
// "out of memory". Uses at::accelerator; CPU statistics come from cpu_memory.h.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <exception>

namespace ubique::device {

void synchronize(c10::Device device);
void empty_cache(c10::Device device);
/// Seeds the torch generators of the CPU and of this device (our own random numbers are those of
/// base/numbers/random.h).
void manual_seed(c10::Device device, std::uint64_t seed);

struct MemoryUse {
  std::int64_t current_bytes = 0;
  std::int64_t peak_bytes = 0;      ///< since the last reset_peak
  std::int64_t reserved_bytes = 0;  ///< held by the allocator, free or not (CPU: by the process)
};
MemoryUse memory_use(c10::Device device);
void reset_peak(c10::Device device);

/// Does this exception mean that memory ran out (on CUDA, cuDNN, MPS or the CPU)?
bool is_out_of_memory(const std::exception& error);

}  // namespace ubique::device
