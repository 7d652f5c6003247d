// SPDX-License-Identifier: Apache-2.0
// A counting CPU allocator that wraps torch's own. The size of a block is stored in front of it, so
// that freeing needs no look-up. Blocks allocated before this library was loaded keep their own
// deleter.
#include "ubique/device/cpu/cpu_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <cstring>
#include <new>

namespace ubique::device {
namespace {

constexpr std::size_t kPrefix = 64;  // keeps torch's 64-byte alignment

std::atomic<std::int64_t> current_bytes{0};
std::atomic<std::int64_t> peak_bytes{0};
c10::Allocator* wrapped = nullptr;  // provides the memory

void count(std::int64_t bytes) {
  const auto now = current_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  auto peak = peak_bytes.load(std::memory_order_relaxed);
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void release_counted(void* data) {
  if (data == nullptr) return;
  auto* block = static_cast<std::byte*>(data) - kPrefix;
  std::int64_t bytes = 0;
  std::memcpy(&bytes, block, sizeof bytes);
  current_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  wrapped->raw_deallocate(block);
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    const c10::Device cpu(c10::kCPU);
    if (size == 0) return {nullptr, nullptr, &release_counted, cpu};
    auto* block = static_cast<std::byte*>(wrapped->raw_allocate(size + kPrefix));
    const auto bytes = static_cast<std::int64_t>(size);
    std::memcpy(block, &bytes, sizeof bytes);
    count(bytes);
    auto* data = block + kPrefix;
    return {data, data, &release_counted, cpu};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release_counted; }
  void copy_data(void* target, const void* source, std::size_t size) const override {
    wrapped->copy_data(target, source, size);
  }
};

// Installed at load time, so that tensors made before the first query are counted. The allocator is
// never destroyed: tensors in static variables may outlive everything here.
[[maybe_unused]] const bool kInstalled = [] {
  wrapped = c10::GetCPUAllocator();
  if (wrapped->raw_deleter() == nullptr)
    return false;                        // an unknown allocator that cannot be wrapped
  constexpr std::uint8_t kPriority = 1;  // above torch's own, below any other
  c10::SetCPUAllocator(new CountingAllocator, kPriority);
  return true;
}();

}  // namespace

CpuMemory cpu_tensor_memory() {
  return {current_bytes.load(std::memory_order_relaxed),
          peak_bytes.load(std::memory_order_relaxed)};
}

void reset_cpu_tensor_peak() { peak_bytes.store(current_bytes.load()); }

}  // namespace ubique::device
