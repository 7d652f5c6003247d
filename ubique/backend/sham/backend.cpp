// SPDX-License-Identifier: Apache-2.0
// The plug-in: a pretend accelerator that computes on the CPU and answers as LibTorch's MPS device.
// Loading it registers nothing; detect() does, once it has found no obstacle.
#include "ubique/device/backend.h"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <fmt/format.h>

#include <cstdlib>

#include "hooks.h"
#include "ops/fallback.h"
#include "ops/kernels.h"
#include "runtime/allocator.h"
#include "runtime/ledger.h"
#include "runtime/mutations.h"
#include "runtime/settings.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/device/host.h"

namespace ubique::backend::sham {
namespace {

/// Why the device cannot be used in this process; empty = it can.
std::string obstacle() {
  if (at::CUDAHooksRegistry()->Has("CUDAHooks")) {
    return "CUDA is loaded in this process, and autograd aborts when both are there; compare the "
           "two in two processes";
  }
  if (at::MPSHooksRegistry()->Has("MPSHooks")) {
    return "this process already has an MPS device (a real one, or another pretend one)";
  }
  return {};
}

std::vector<DType> native_dtypes() {
  std::vector<DType> dtypes;
  const auto add = [&](DType dtype, c10::ScalarType type) {
    if (settings().refused_dtypes.count(type) == 0) dtypes.push_back(dtype);
  };
  add(DType::F32, c10::ScalarType::Float);
  add(DType::F16, c10::ScalarType::Half);
  add(DType::BF16, c10::ScalarType::BFloat16);
  return dtypes;
}

device::Facts facts_now() {
  const auto& host = device::host();
  device::Facts facts;
  facts.backend = UBIQUE_BACKEND_NAME;
  facts.kind = device::Kind::Mps;
  facts.name = fmt::format("{} (pretend Metal on CPU)", UBIQUE_BACKEND_NAME);
  facts.pretend = true;
  const auto [free, total] = allocator().getMemoryInfo(0);
  facts.total_bytes = static_cast<std::int64_t>(total);
  facts.free_bytes = static_cast<std::int64_t>(free);
  facts.recommended_bytes = static_cast<std::int64_t>(allocator().recommended_bytes());
  facts.max_tensor_bytes = settings().max_buffer;
  facts.chip = UBIQUE_BACKEND_NAME;
  facts.native_dtypes = native_dtypes();
  facts.cores = host.cores;
  facts.platform = host.platform;
  facts.os_version = host.os_version;
  facts.torch_version = device::torch_version();
  return facts;
}

void configure(const std::string& text) {
  set_settings(parse_settings(text));
  apply_overrides();
}

/// At the end of the process, if the settings name a file for it.
void write_ledger() {
  const auto& path = settings().ledger;
  if (path.empty()) return;
  try {
    write_file(path, ledger().list());
  } catch (const Error& error) {
    log::warn("{}", error.what());
  }
}

class PretendBackend final : public device::Backend {
 public:
  std::string name() const override { return UBIQUE_BACKEND_NAME; }
  device::Kind kind() const override { return device::Kind::Mps; }
  int auto_order() const override { return 0; }
  c10::Device torch_device(int) const override { return the_device(); }
  std::string ledger() const override { return sham::ledger().to_text(); }

  device::Detection detect() override {
    const char* text = std::getenv(settings_variable().c_str());
    const auto wanted = parse_settings(text == nullptr ? "" : text);
    if (auto reason = obstacle(); !reason.empty()) return {{}, reason};
    if (!install_hooks()) {
      return {{},
              "LibTorch was asked about Metal before this device was loaded, and it remembers "
              "the first answer; name the device before anything else uses LibTorch"};
    }
    install_allocator();
    install_guard();
    install_fallback();
    install_kernels();
    install_attention();
    set_settings(wanted);
    apply_overrides();
    std::atexit(write_ledger);
    return {{facts_now()}, {}};
  }
};

}  // namespace
}  // namespace ubique::backend::sham

UBIQUE_REGISTER_PLUGIN(ubique::backend::sham::PretendBackend);

// For tests of this device and of the probes: new settings in the same process, and single figures
// of the ledger.
extern "C" {

/// The error message, or nullptr. The text is valid until the next call.
__attribute__((visibility("default"))) const char* ubique_plugin_configure(const char* text) {
  static std::string message;
  try {
    ubique::backend::sham::configure(text);
    return nullptr;
  } catch (const ubique::Error& error) {
    message = error.what();
    return message.c_str();
  }
}

__attribute__((visibility("default"))) std::int64_t ubique_plugin_ledger(const char* what) {
  return ubique::backend::sham::ledger().total(what);
}

__attribute__((visibility("default"))) void ubique_plugin_reset_ledger() {
  ubique::backend::sham::ledger().reset();
}
}
