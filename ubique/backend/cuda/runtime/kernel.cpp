// SPDX-License-Identifier: Apache-2.0
// Compiles, caches, loads and launches kernels through the driver.
#include "kernel.h"

#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "compiler.h"
#include "driver_library.h"
#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"

namespace ubique::backend::cuda {
namespace {

// Values from NVIDIA's public driver interface.
constexpr int kAttributeSharedOptIn = 97, kAttributeProcessorCount = 16;
constexpr int kAttributeCapabilityMajor = 75, kAttributeCapabilityMinor = 76;
constexpr int kFunctionDynamicShared = 8;
constexpr int kLaunchEarly = 6;

struct LaunchAttribute {
  int which = 0;
  alignas(8) int value[16] = {};
};
struct LaunchConfig {
  unsigned blocks[3], threads[3];
  unsigned shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

const DriverLibrary& driver() {
  static const DriverLibrary library;
  return library;
}

void check_driver(int code, const std::string& what) {
  check(code == kDriverSuccess, ErrorKind::Internal, "[cuda.kernel] {} fails: {}.", what,
        driver().error_name(code));
}

CardLimits ask_limits(int card) {
  int handle = 0;
  check_driver(driver().call("cuDeviceGet", &handle, card), "finding the card");
  const auto attribute = [&](int which) {
    int value = 0;
    driver().call("cuDeviceGetAttribute", &value, which, handle);
    return value;
  };
  return {10 * attribute(kAttributeCapabilityMajor) + attribute(kAttributeCapabilityMinor),
          attribute(kAttributeProcessorCount), attribute(kAttributeSharedOptIn)};
}

/// Machine code from the cache on disk, or compiled and stored there. If the folder is not
/// writable, kernels are compiled in every process.
std::string machine_code(const std::string& source, const std::vector<std::string>& defines,
                         int capability) {
  const auto key = fmt::format("{}\n{}\nsm_{} nvrtc {}", source_text(source),
                               fmt::join(defines, " "), capability, compiler_version());
  const auto path = cache_folder() / "kernels" / (digest_of(key) + ".cubin");
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return read_file(path);
  auto compiled = compile(source, defines, capability);
  check(compiled.fault.empty(), ErrorKind::Internal, "[cuda.compile] {} for sm_{} fails: {}",
        source, capability, compiled.fault);
  try {
    make_folder(path.parent_path());
    write_file(path, compiled.code);
  } catch (const Error& error) {
    log::warn_once("cuda.kernels.write", fmt::format("[cuda.kernel] compiled kernels are not kept "
                                                     "between runs: {}",
                                                     error.what()));
  }
  return std::move(compiled.code);
}

/// Driver libraries are independent of card and thread.
void* load_function(const std::string& code, const std::string& function, int most_shared,
                    int card) {
  void *library = nullptr, *handle = nullptr;
  check_driver(driver().call("cuLibraryLoadData", &library, static_cast<const void*>(code.data()),
                             nullptr, nullptr, 0U, nullptr, nullptr, 0U),
               "loading " + function);
  check_driver(driver().call("cuLibraryGetKernel", &handle, library, function.c_str()),
               "finding " + function);
  // Allows the maximum; each launch states what it uses.
  driver().call("cuKernelSetAttribute", kFunctionDynamicShared, most_shared, handle, card);
  return handle;
}

/// A thread whose first CUDA call is ours (possibly one of autograd's) has no current context:
/// LibTorch sets it only when it calls CUDA itself.
void enter_context(c10::Device device) {
  void* context = nullptr;
  check_driver(driver().call("cuCtxGetCurrent", &context), "asking for the context");
  if (context != nullptr) return;
  check_driver(driver().call("cuDevicePrimaryCtxRetain", &context, int{device.index()}),
               "finding the card's context");
  check_driver(driver().call("cuCtxSetCurrent", context), "entering the card's context");
}

}  // namespace

void Kernel::launch_with(c10::Device device, const LaunchShape& shape, void** arguments) const {
  const c10::impl::VirtualGuardImpl guard(device.type());
  enter_context(device);
  void* stream = guard.getStream(device).native_handle();
  void** no_extra = nullptr;
  LaunchAttribute early{kLaunchEarly, {1}};
  const LaunchConfig config{{static_cast<unsigned>(shape.blocks), 1, 1},
                            {static_cast<unsigned>(shape.threads), 1, 1},
                            static_cast<unsigned>(shape.shared_bytes),
                            stream,
                            &early,
                            shape.early ? 1U : 0U};
  check_driver(driver().call("cuLaunchKernelEx", &config, handle_, arguments, no_extra),
               "launching " + name_);
}

const CardLimits& card_limits(c10::Device device) {
  static std::mutex guard;
  static std::map<int, CardLimits> known;
  const std::lock_guard lock(guard);
  auto [entry, is_new] = known.try_emplace(device.index());
  if (is_new) entry->second = ask_limits(device.index());
  return entry->second;
}

bool can_run_kernels() {
  if (!driver().loaded()) return false;
  if (has_compiler()) return true;
  log::warn_once("cuda.kernels",
                 "[cuda.kernel] NVIDIA's run-time compiler (libnvrtc) is not found: LibTorch's own "
                 "kernels are used, which are slower. tools/setup --gpu installs it.");
  return false;
}

const Kernel& kernel(c10::Device device, const std::string& source, const std::string& function,
                     const std::vector<std::string>& defines) {
  static std::mutex guard;
  static std::map<std::string, Kernel> known;
  const auto& limits = card_limits(device);
  const auto key = fmt::format("{} {} {} {} {}", device.index(), limits.capability, source,
                               function, fmt::join(defines, " "));
  const std::lock_guard lock(guard);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  const auto code = machine_code(source, defines, limits.capability);
  return known
      .try_emplace(key, load_function(code, function, limits.shared_bytes, device.index()),
                   function)
      .first->second;
}

}  // namespace ubique::backend::cuda
