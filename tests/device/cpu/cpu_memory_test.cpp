// SPDX-License-Identifier: Apache-2.0
// The counting CPU allocator.
#include "ubique/device/cpu/cpu_memory.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "ubique/device/runtime.h"

using namespace ubique::device;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

at::Tensor block_of(std::int64_t bytes) { return at::empty({bytes}, at::kByte); }

}  // namespace

TEST_CASE("cpu memory: tensors are counted to the byte, and the peak stays until it is reset") {
  const auto before = cpu_tensor_memory().current_bytes;
  reset_cpu_tensor_peak();
  {
    const auto kept = block_of(3 * kMiB);
    { const auto passing = block_of(5 * kMiB + 7); }
    CHECK(cpu_tensor_memory().current_bytes - before == 3 * kMiB);
    CHECK(cpu_tensor_memory().peak_bytes - before == 8 * kMiB + 7);
  }
  CHECK(cpu_tensor_memory().current_bytes == before);
  reset_cpu_tensor_peak();
  CHECK(cpu_tensor_memory().peak_bytes == before);
}

TEST_CASE("cpu memory: a resized tensor and a moved storage are counted once") {
  const auto before = cpu_tensor_memory().current_bytes;
  auto tensor = block_of(kMiB);
  tensor.resize_({4 * kMiB});
  auto other = tensor;
  tensor.reset();
  CHECK(cpu_tensor_memory().current_bytes - before == 4 * kMiB);
  other.reset();
  CHECK(cpu_tensor_memory().current_bytes == before);
}

TEST_CASE("cpu memory: raw blocks, empty tensors and alignment are as torch's own") {
  auto* allocator = c10::GetCPUAllocator();
  const auto before = cpu_tensor_memory().current_bytes;
  void* raw = allocator->raw_allocate(100);
  CHECK(reinterpret_cast<std::uintptr_t>(raw) % 64 == 0);
  CHECK(cpu_tensor_memory().current_bytes - before == 100);
  allocator->raw_deallocate(raw);
  CHECK(cpu_tensor_memory().current_bytes == before);
  CHECK(at::empty({0}).numel() == 0);
  CHECK(cpu_tensor_memory().current_bytes == before);
}

TEST_CASE("cpu memory: counts are exact with several threads") {
  const auto before = cpu_tensor_memory().current_bytes;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker) {
    workers.emplace_back([worker] {
      for (int i = 0; i < 2000; ++i) block_of(1 + worker * 1000 + i);
    });
  }
  for (auto& worker : workers) worker.join();
  CHECK(cpu_tensor_memory().current_bytes == before);
}

TEST_CASE("cpu memory: memory_use() of the CPU returns it") {
  const c10::Device cpu(c10::kCPU);
  reset_peak(cpu);
  const auto before = memory_use(cpu);
  const auto kept = block_of(2 * kMiB);
  const auto after = memory_use(cpu);
  CHECK(after.current_bytes - before.current_bytes == 2 * kMiB);
  CHECK(after.peak_bytes == after.current_bytes);
  CHECK(after.reserved_bytes > 0);  // of the whole process
}
