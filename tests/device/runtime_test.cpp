// SPDX-License-Identifier: Apache-2.0
// Memory statistics, seeds and out-of-memory messages.
#include "ubique/device/runtime.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <new>
#include <stdexcept>

using namespace ubique::device;

TEST_CASE("runtime: peak memory of the CPU follows an allocation and can be reset") {
  const c10::Device cpu(c10::kCPU);
  reset_peak(cpu);
  const auto before = memory_use(cpu);
  constexpr std::int64_t kBytes = 256LL << 20;
  { auto block = at::ones({kBytes / 4}, at::kFloat); }
  const auto after = memory_use(cpu);
  CHECK(after.peak_bytes - before.current_bytes > kBytes * 9 / 10);
  reset_peak(cpu);
  CHECK(memory_use(cpu).peak_bytes < after.peak_bytes - kBytes / 2);
}

TEST_CASE("runtime: the same seed gives the same torch numbers") {
  const c10::Device cpu(c10::kCPU);
  manual_seed(cpu, 11);
  const auto first = at::rand({8});
  manual_seed(cpu, 11);
  CHECK(at::equal(first, at::rand({8})));
  manual_seed(cpu, 12);
  CHECK_FALSE(at::equal(first, at::rand({8})));
}

TEST_CASE("runtime: out of memory is recognised in the messages of every device") {
  for (const char* text :
       {"CUDA out of memory. Tried to allocate 20.00 GiB",
        "MPS backend out of memory (MPS allocated: 8.00 GB, other allocations: 1.00 GB)",
        "cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "CUDA error: CUBLAS_STATUS_ALLOC_FAILED",
        "[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory",
        "Invalid buffer size: 16.00 GB"}) {
    CAPTURE(text);
    CHECK(is_out_of_memory(std::runtime_error(text)));
  }
  CHECK(is_out_of_memory(std::bad_alloc()));
  CHECK_FALSE(is_out_of_memory(std::runtime_error("expected scalar type Float but found Half")));
}

TEST_CASE("runtime: a real allocation failure is recognised, and the CPU still works") {
  bool recognised = false;
  try {
    at::empty({1LL << 46}, at::kFloat);
  } catch (const std::exception& error) {
    recognised = is_out_of_memory(error);
  }
  CHECK(recognised);
  CHECK(at::ones({3}).sum().item<float>() == 3);
}
