// SPDX-License-Identifier: Apache-2.0
// Intel GPUs through an XPU build of LibTorch: recognised and described, but marked untested,
// because we have never run on one.
#include <ATen/Context.h>
#include <ATen/detail/XPUHooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>

#include "ubique/device/backend.h"
#include "ubique/device/host.h"

namespace ubique::backend {
namespace {

class XpuBackend final : public device::Backend {
 public:
  std::string name() const override { return "xpu"; }
  device::Kind kind() const override { return device::Kind::Xpu; }
  int auto_order() const override { return 3; }
  c10::Device torch_device(int index) const override {
    return {c10::kXPU, static_cast<c10::DeviceIndex>(index)};
  }

  device::Detection detect() override {
    if (!at::hasXPU()) return {{}, "this LibTorch is not an XPU build"};
    const int count = at::detail::getXPUHooks().deviceCount();
    device::Detection found{{}, "XPU build of LibTorch: untested by us"};
    for (int index = 0; index < count; ++index) found.devices.push_back(describe(index, count));
    if (count == 0) found.reason = "XPU build of LibTorch, but no Intel GPU answers";
    return found;
  }

 private:
  static device::Facts describe(int index, int count) {
    device::Facts facts;
    facts.backend = "xpu";
    facts.kind = device::Kind::Xpu;
    facts.index = index;
    facts.count = count;
    facts.name = "Intel GPU (XPU)";
    facts.chip = "xpu";
    facts.untested = "XPU";
    facts.platform = device::host().platform;
    facts.os_version = device::host().os_version;
    facts.torch_version = device::torch_version();
    const auto [free, total] =
        at::getDeviceAllocator(c10::kXPU)->getMemoryInfo(static_cast<c10::DeviceIndex>(index));
    facts.free_bytes = static_cast<std::int64_t>(free);
    facts.total_bytes = static_cast<std::int64_t>(total);
    facts.native_dtypes = {DType::F32, DType::F16, DType::BF16};
    return facts;
  }
};

}  // namespace

void register_xpu() { device::register_backend(std::make_unique<XpuBackend>()); }

}  // namespace ubique::backend
