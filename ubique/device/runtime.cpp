// SPDX-License-Identifier: Apache-2.0
// The differences between CUDA's caching allocator, Metal's hooks and the CPU.
#include "ubique/device/runtime.h"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <array>
#include <fstream>
#include <new>
#include <string>
#include <string_view>

#include "ubique/base/error.h"
#include "ubique/device/cpu/cpu_memory.h"

#ifdef __APPLE__
#include <mach/mach.h>
#endif

namespace ubique::device {
namespace {

/// The allocator with statistics, if the device has one (Metal's has only hooks in older versions).
c10::DeviceAllocator* statistics_of(c10::Device device) {
  return dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device.type()));
}

/// Resident memory of the whole process.
#ifdef __APPLE__
std::int64_t resident_bytes() {
  mach_task_basic_info info{};
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&info), &count);
  return static_cast<std::int64_t>(info.resident_size);
}
#else
std::int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(line.find(':') + 1)) * 1024;
  }
  return 0;
}
#endif

}  // namespace

void synchronize(c10::Device device) {
  if (!device.is_cpu()) at::accelerator::synchronizeDevice(device.has_index() ? device.index() : 0);
}

void empty_cache(c10::Device device) {
  if (device.is_cpu()) return;
  if (auto* allocator = statistics_of(device)) {
    allocator->emptyCache();
  } else if (device.is_mps()) {
    at::detail::getMPSHooks().emptyCache();
  }
}

void manual_seed(c10::Device device, std::uint64_t seed) {
  const auto seed_generator = [&](c10::Device of) {
    auto generator = at::globalContext().defaultGenerator(of);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(seed);
  };
  seed_generator(c10::Device(c10::kCPU));
  if (!device.is_cpu()) seed_generator(device);
}

MemoryUse memory_use(c10::Device device) {
  if (device.is_cpu()) {
    const auto tensors = cpu_tensor_memory();
    return {tensors.current_bytes, tensors.peak_bytes, resident_bytes()};
  }
  if (auto* allocator = statistics_of(device)) {
    const auto stats = allocator->getDeviceStats(device.has_index() ? device.index() : 0);
    constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return {stats.allocated_bytes[kAll].current, stats.allocated_bytes[kAll].peak,
            stats.reserved_bytes[kAll].current};
  }
  const auto& hooks = at::detail::getMPSHooks();
  const auto current = static_cast<std::int64_t>(hooks.getCurrentAllocatedMemory());
  const auto driver = static_cast<std::int64_t>(hooks.getDriverAllocatedMemory());
  return {current, driver, driver};  // Metal keeps no peak: driver memory is an upper bound
}

void reset_peak(c10::Device device) {
  if (device.is_cpu()) {
    reset_cpu_tensor_peak();
  } else if (auto* allocator = statistics_of(device)) {
    allocator->resetPeakStats(device.has_index() ? device.index() : 0);
  }
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return false;  // ours say what to do
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  constexpr std::array<std::string_view, 8> kSigns = {
      "out of memory",               // CUDA, MPS ("MPS backend out of memory"), HIP, NCCL
      "can't allocate memory",       // CPU allocator on Linux
      "not enough memory",           // CPU allocator elsewhere
      "CUDNN_STATUS_ALLOC_FAILED",   // cuDNN's and cuBLAS's own workspaces
      "CUBLAS_STATUS_ALLOC_FAILED",  //
      "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
      "Invalid buffer size",  // Metal: one buffer larger than the device allows
      "Tried to allocate",
  };
  const std::string_view message = error.what();
  return std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
    return message.find(sign) != std::string_view::npos;
  });
}

}  // namespace ubique::device
