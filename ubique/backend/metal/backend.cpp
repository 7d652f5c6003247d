// SPDX-License-Identifier: Apache-2.0
// Apple Metal through LibTorch's MPS backend. Small on purpose: run-time facts come from LibTorch's
// hooks and the probes. We have never run it on a Mac (see docs/why/metal.md).
#include <ATen/Context.h>
#include <ATen/detail/MPSHooksInterface.h>

#include "ubique/base/text/text.h"
#include "ubique/device/backend.h"
#include "ubique/device/host.h"

namespace ubique::backend {
namespace {

/// "Apple M3 Max" -> "apple-m3".
std::string chip_family(const std::string& name) {
  const auto words = split(lowercase(name), ' ');
  return words.size() >= 2 && words[0] == "apple" ? "apple-" + words[1] : "apple";
}

class MetalBackend final : public device::Backend {
 public:
  std::string name() const override { return "mps"; }
  device::Kind kind() const override { return device::Kind::Mps; }
  int auto_order() const override { return 2; }
  c10::Device torch_device(int) const override { return {c10::kMPS, 0}; }

  device::Detection detect() override {
    const auto& host = device::host();
    if (host.platform != "Darwin") return {{}, "Metal needs macOS; this is " + host.platform};
    if (!at::hasMPS()) return {{}, "this LibTorch has no MPS, or macOS offers no Metal device"};
    const auto& hooks = at::detail::getMPSHooks();
    device::Facts facts;
    facts.backend = "mps";
    facts.kind = device::Kind::Mps;
    facts.name = host.cpu_name;
    facts.chip = chip_family(host.cpu_name);
    facts.platform = host.platform;
    facts.os_version = host.os_version;
    facts.torch_version = device::torch_version();
    facts.driver = host.os_version;  // Metal ships with the system
    facts.total_bytes = host.memory_total;
    facts.free_bytes = host.memory_available;
    facts.recommended_bytes = static_cast<std::int64_t>(hooks.getRecommendedMaxMemory());
    facts.max_tensor_bytes = std::int64_t{1} << 32;  // larger single buffers abort in MPSGraph
    facts.native_dtypes = {DType::F32, DType::F16};
    if (hooks.isOnMacOSorNewer(14, 0)) facts.native_dtypes.push_back(DType::BF16);
    return {{facts}, {}};
  }
};

}  // namespace

void register_metal() { device::register_backend(std::make_unique<MetalBackend>()); }

}  // namespace ubique::backend
