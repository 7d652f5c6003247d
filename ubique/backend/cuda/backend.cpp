// SPDX-License-Identifier: Apache-2.0
// NVIDIA CUDA, loaded and never linked: LibTorch's CUDA library is opened only if the driver
// reports a card, so that one build runs on machines with and without. ROCm builds of LibTorch also
// answer as cuda; they are recognised and marked untested.
#include "ubique/device/backend.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "collectives/nccl.h"
#include "runtime/driver.h"
#include "runtime/graph.h"
#include "ubique/device/host.h"
#include "ubique/device/numerics.h"

namespace ubique::backend {
namespace {

using device::Detection;
using device::Facts;

std::string chip_name(int capability) {
  if (capability >= 100) return "blackwell";
  if (capability >= 90) return "hopper";
  if (capability == 89) return "ada";
  if (capability >= 80) return "ampere";
  if (capability == 75) return "turing";
  if (capability >= 70) return "volta";
  return "pascal or older";
}

std::vector<DType> native_dtypes(int capability) {
  std::vector<DType> dtypes = {DType::F32, DType::F64, DType::F16};
  if (capability >= 80) dtypes.push_back(DType::BF16);
  if (capability >= 89) dtypes.push_back(DType::F8E4M3);
  return dtypes;
}

/// Opens LibTorch's CUDA library. Must run before anything asks LibTorch about CUDA, which caches
/// the first answer for the process. Empty = loaded.
std::string load_library(const char* name) {
  // An MPS device on a system without Metal is the pretend one; autograd aborts when both are
  // loaded. (at::hasMPS() would cache a "no".)
  if (c10::impl::hasDeviceGuardImpl(c10::kMPS))
    return "not looked for: a pretend Metal device is loaded, and both cannot be in one process";
  if (dlopen(name, RTLD_NOW | RTLD_GLOBAL) != nullptr) return {};
  return fmt::format("LibTorch's CUDA library does not load: {} (tools/setup --gpu installs it)",
                     dlerror());
}

/// LibTorch's allocator reads its settings once, when CUDA is loaded. Expandable segments avoid
/// fragmentation, which would make part of the cap unusable.
void hold_memory_cap(std::int64_t total_bytes) {
  const auto cap = device::announced_memory_cap();
  if (cap <= 0 || cap >= total_bytes) return;
  const auto share = static_cast<double>(cap) / static_cast<double>(total_bytes);
  const auto settings =
      fmt::format("expandable_segments:True,per_process_memory_fraction:{:.6f}", share);
  ::setenv("PYTORCH_CUDA_ALLOC_CONF", settings.c_str(), /*replace=*/0);
}

Facts common_facts(int index, int count) {
  Facts facts;
  facts.backend = "cuda";
  facts.kind = device::Kind::Cuda;
  facts.index = index;
  facts.count = count;
  facts.platform = device::host().platform;
  facts.os_version = device::host().os_version;
  facts.torch_version = device::torch_version();
  const auto [free, total] =
      at::getDeviceAllocator(c10::kCUDA)->getMemoryInfo(static_cast<c10::DeviceIndex>(index));
  facts.free_bytes = static_cast<std::int64_t>(free);
  facts.total_bytes = static_cast<std::int64_t>(total);
  return facts;
}

Facts card_facts(const cuda::Driver& driver, int index) {
  const auto& card = driver.cards[static_cast<std::size_t>(index)];
  auto facts = common_facts(index, static_cast<int>(driver.cards.size()));
  facts.name = card.name;
  facts.capability = card.capability;
  facts.chip = chip_name(card.capability);
  facts.native_dtypes = native_dtypes(card.capability);
  facts.cores = card.processors;
  facts.memory_gbps = card.memory_gbps;
  facts.driver =
      fmt::format("CUDA {}.{}", driver.cuda_version / 1000, driver.cuda_version % 1000 / 10);
  if (!driver.driver_version.empty()) facts.driver += ", driver " + driver.driver_version;
  return facts;
}

class CudaBackend final : public device::Backend {
 public:
  std::string name() const override { return "cuda"; }
  device::Kind kind() const override { return device::Kind::Cuda; }
  int auto_order() const override { return 1; }
  c10::Device torch_device(int index) const override {
    return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)};
  }

  std::unique_ptr<device::Recording> record(c10::Device device, const std::string& name,
                                            const std::function<void()>& work,
                                            const device::Recording* beside) override {
    return cuda::record(device, name, work, beside);
  }

  /// LibTorch's CUDA library, which is loaded by now, has loaded NCCL.
  const device::CollectivesLibrary* collectives() override {
    static const cuda::Nccl kLibrary;
    return kLibrary.loaded() ? &kLibrary : nullptr;
  }

  Detection detect() override {
    try {
      return is_rocm_build() ? detect_rocm() : detect_nvidia();
    } catch (const c10::Error& error) {
      return {{}, fmt::format("CUDA fails while it starts: {}", error.what_without_backtrace())};
    }
  }

 private:
  static bool is_rocm_build() {
    Dl_info torch{};
    if (dladdr(reinterpret_cast<const void*>(&at::globalContext), &torch) == 0) return false;
    const std::string path = torch.dli_fname;
    const auto library = path.substr(0, path.rfind('/') + 1) + "libtorch_hip.so";
    return std::ifstream(library).good();
  }

  static Detection detect_nvidia() {
    const auto driver = cuda::ask_driver();
    if (!driver.fault.empty()) return {{}, driver.fault};
    hold_memory_cap(driver.cards.front().total_bytes);
    if (auto fault = load_library("libtorch_cuda.so"); !fault.empty()) return {{}, fault};
    if (!at::hasCUDA()) return {{}, why_unusable(driver)};
    Detection found;
    for (int index = 0; index < static_cast<int>(driver.cards.size()); ++index) {
      found.devices.push_back(card_facts(driver, index));
    }
    return found;
  }

  static std::string why_unusable(const cuda::Driver& driver) {
    if (c10::impl::hasDeviceGuardImpl(c10::kCUDA) &&
        c10::impl::getDeviceGuardImpl(c10::kCUDA)->deviceCount() > 0) {
      return "this program used LibTorch before it looked for devices, and LibTorch keeps to what "
             "it "
             "found then; call device::survey() first";
    }
    return fmt::format(
        "LibTorch {} cannot use the NVIDIA driver, which supports CUDA up to {}.{}; a newer driver "
        "may help",
        device::torch_version(), driver.cuda_version / 1000, driver.cuda_version % 1000 / 10);
  }

  static Detection detect_rocm() {
    if (auto fault = load_library("libtorch_hip.so"); !fault.empty()) return {{}, fault};
    if (!at::hasCUDA()) return {{}, "this is a ROCm build of LibTorch, and it sees no AMD card"};
    Detection found;
    found.reason = "ROCm build of LibTorch: answers as cuda, untested by us";
    const int count = at::detail::getCUDAHooks().deviceCount();
    for (int index = 0; index < count; ++index) {
      auto facts = common_facts(index, count);
      facts.name = "AMD GPU (ROCm)";
      facts.chip = "rocm";
      facts.untested = "ROCm";
      facts.driver = "ROCm";
      facts.native_dtypes = {DType::F32, DType::F64, DType::F16};
      found.devices.push_back(std::move(facts));
    }
    return found;
  }
};

}  // namespace

void register_cuda() { device::register_backend(std::make_unique<CudaBackend>()); }

}  // namespace ubique::backend
