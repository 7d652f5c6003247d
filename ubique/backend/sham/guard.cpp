// SPDX-License-Identifier: Apache-2.0
// The device guard: one device, one stream, and events that are complete when recorded, because
// every op finishes before its call returns.
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <chrono>

#include "hooks.h"
#include "runtime/allocator.h"
#include "runtime/settings.h"

namespace ubique::backend::sham {
namespace {

using GuardTime = std::chrono::steady_clock::time_point;

struct Guard final : c10::impl::DeviceGuardImplInterface {
  static c10::Stream stream() { return c10::Stream(c10::Stream::DEFAULT, the_device()); }

  c10::DeviceType type() const override { return c10::DeviceType::MPS; }
  c10::Device exchangeDevice(c10::Device) const override { return the_device(); }
  c10::Device getDevice() const override { return the_device(); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Stream getStream(c10::Device) const noexcept override { return stream(); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override { return stream(); }
  c10::Stream getNewStream(c10::Device, int) const override { return stream(); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return stream(); }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override { synchronize_device(); }
  void synchronizeDevice(c10::DeviceIndex) const override { synchronize_device(); }

  void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {
    if (*event == nullptr) *event = new GuardTime;
    *static_cast<GuardTime*>(*event) = std::chrono::steady_clock::now();
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<GuardTime*>(event);
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override { synchronize_device(); }
  double elapsedTime(void* start, void* end, c10::DeviceIndex) const override {
    const auto span = *static_cast<GuardTime*>(end) - *static_cast<GuardTime*>(start);
    return std::chrono::duration<double, std::milli>(span).count();
  }

  c10::DeviceCapability getDeviceCapability(c10::Device) const override {
    c10::DeviceCapability capability;
    auto& has = capability.capability_data.supported_scalar_types;
    has.has_Double = has.has_ComplexHalf = has.has_ComplexFloat = has.has_ComplexDouble = 0;
    has.has_Half = settings().refused_dtypes.count(c10::ScalarType::Half) == 0;
    has.has_BFloat16 = settings().refused_dtypes.count(c10::ScalarType::BFloat16) == 0;
    return capability;
  }
};

}  // namespace

void install_guard() {
  static auto* const kGuard =
      new Guard;  // the registry does not own it, and it must never be destroyed
  c10::impl::registerDeviceGuard(c10::DeviceType::MPS, kGuard);
}

}  // namespace ubique::backend::sham
