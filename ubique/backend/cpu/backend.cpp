// SPDX-License-Identifier: Apache-2.0
// The CPU: always available, last in the order of auto, and the reference for all other devices.
#include "ubique/device/backend.h"
#include "ubique/device/host.h"

namespace ubique::backend {
namespace {

using device::Facts;

class CpuBackend final : public device::Backend {
 public:
  std::string name() const override { return "cpu"; }
  device::Kind kind() const override { return device::Kind::Cpu; }
  int auto_order() const override { return 4; }
  c10::Device torch_device(int) const override { return c10::Device(c10::kCPU); }

  device::Detection detect() override {
    const auto& host = device::host();
    Facts facts;
    facts.backend = "cpu";
    facts.kind = device::Kind::Cpu;
    facts.name = host.cpu_name;
    facts.chip = host.architecture;
    facts.cores = host.cores;
    facts.instruction_sets = host.instruction_sets;
    facts.platform = host.platform;
    facts.os_version = host.os_version;
    facts.torch_version = device::torch_version();
    facts.total_bytes = host.memory_total;
    facts.free_bytes = host.memory_available;
    if (host.container_limit > 0) {
      facts.total_bytes = host.container_limit;
      facts.free_bytes =
          std::min(host.memory_available, host.container_limit - host.container_used);
    }
    facts.native_dtypes = native_dtypes(facts);
    return {{facts}, host.cores_reason};
  }

 private:
  static std::vector<DType> native_dtypes(const Facts& facts) {
    std::vector<DType> dtypes = {DType::F32, DType::F64};
    for (const char* set : {"amx", "avx512_bf16", "arm_bf16"}) {
      if (facts.has_instruction_set(set)) {
        dtypes.push_back(DType::BF16);
        break;
      }
    }
    for (const char* set : {"avx512_fp16", "arm_fp16"}) {
      if (facts.has_instruction_set(set)) dtypes.push_back(DType::F16);
    }
    return dtypes;
  }
};

}  // namespace

void register_cpu() { device::register_backend(std::make_unique<CpuBackend>()); }

}  // namespace ubique::backend
