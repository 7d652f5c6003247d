// SPDX-License-Identifier: Apache-2.0
// LibTorch's MPS hooks, answered by the pretend device.
#include "hooks.h"

#include <ATen/detail/MPSHooksInterface.h>
#include <c10/core/CPUAllocator.h>

#include <chrono>
#include <unordered_map>

#include "ops/copies.h"
#include "runtime/allocator.h"
#include "runtime/generator.h"
#include "ubique/base/error.h"

namespace ubique::backend::sham {
namespace {

/// Events complete as soon as they are recorded: the device works in the calling thread.
class EventClock {
 public:
  std::uint32_t acquire() {
    const std::lock_guard lock(mutex_);
    times_[++last_] = {};
    return last_;
  }
  void release(std::uint32_t id) {
    const std::lock_guard lock(mutex_);
    times_.erase(id);
  }
  void record(std::uint32_t id) {
    const std::lock_guard lock(mutex_);
    times_[id] = std::chrono::steady_clock::now();
  }
  double milliseconds(std::uint32_t start, std::uint32_t end) {
    const std::lock_guard lock(mutex_);
    return std::chrono::duration<double, std::milli>(times_[end] - times_[start]).count();
  }

 private:
  std::mutex mutex_;
  std::uint32_t last_ = 0;
  std::unordered_map<std::uint32_t, std::chrono::steady_clock::time_point> times_;
};

EventClock& event_clock() {
  static auto* const kClock = new EventClock;
  return *kClock;
}

struct Hooks final : at::MPSHooksInterface {
  explicit Hooks(at::MPSHooksArgs) {}
  void init() const override {}
  bool hasMPS() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool isOnMacOSorNewer(unsigned, unsigned) const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::Device getDeviceFromPtr(void*) const override { return the_device(); }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return default_generator();
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return new_generator(); }

  c10::Allocator* getMPSDeviceAllocator() const override { return &allocator(); }
  /// Unified memory needs no pinning: ordinary host memory, which never counts as pinned.
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
  bool isPinnedPtr(const void*) const override { return false; }
  void emptyCache() const override { allocator().emptyCache(); }
  std::size_t getCurrentAllocatedMemory() const override { return allocator().allocated_bytes(); }
  std::size_t getDriverAllocatedMemory() const override { return allocator().reserved_bytes(); }
  std::size_t getRecommendedMaxMemory() const override { return allocator().recommended_bytes(); }
  void setMemoryFraction(double fraction) const override { allocator().set_fraction(fraction); }

  void deviceSynchronize() const override { synchronize_device(); }
  void commitStream() const override { synchronize_device(); }
  void* getCommandBuffer() const override { return nullptr; }
  void* getDispatchQueue() const override { return nullptr; }
  void profilerStartTrace(const std::string&, bool) const override {}
  void profilerStopTrace() const override {}

  std::uint32_t acquireEvent(bool) const override { return event_clock().acquire(); }
  void releaseEvent(std::uint32_t id) const override { event_clock().release(id); }
  void recordEvent(std::uint32_t id) const override { event_clock().record(id); }
  void waitForEvent(std::uint32_t) const override {}
  void synchronizeEvent(std::uint32_t) const override { synchronize_device(); }
  bool queryEvent(std::uint32_t) const override { return true; }
  double elapsedTimeOfEvents(std::uint32_t start, std::uint32_t end) const override {
    return event_clock().milliseconds(start, end);
  }
};

}  // namespace

bool install_hooks() {
  const auto create = [](at::MPSHooksArgs args) -> std::unique_ptr<at::MPSHooksInterface> {
    return std::make_unique<Hooks>(args);
  };
  at::MPSHooksRegistry()->Register("MPSHooks", create);
  return dynamic_cast<const Hooks*>(&at::detail::getMPSHooks()) != nullptr;
}

void synchronize_device() { finish_late_copies(); }

}  // namespace ubique::backend::sham
