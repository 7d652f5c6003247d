// SPDX-License-Identifier: Apache-2.0
// Advises the kernel to back a range of memory with huge pages.
#include "ubique/base/numbers/large_vector.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace ubique {

void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t kWorthAsking = 4U << 20U;  // two huge pages
  if (bytes < kWorthAsking) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // advice: may be refused
#endif
}

}  // namespace ubique
