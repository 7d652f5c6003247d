// SPDX-License-Identifier: Apache-2.0
// Queries the driver for its version and cards.
#include "driver.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "driver_library.h"

namespace ubique::backend::cuda {
namespace {

// Values from NVIDIA's public driver interface.
constexpr int kNoDevice = 100;
constexpr int kAttributeProcessors = 16;
constexpr int kAttributeMemoryClockKhz = 36;
constexpr int kAttributeBusWidthBits = 37;
constexpr int kAttributeMajor = 75;
constexpr int kAttributeMinor = 76;

int attribute(const DriverLibrary& library, int which, int card) {
  int value = 0;
  return library.call("cuDeviceGetAttribute", &value, which, card) == kDriverSuccess ? value : 0;
}

Card describe(const DriverLibrary& library, int index) {
  Card card;
  int handle = 0;
  library.call("cuDeviceGet", &handle, index);
  char name[256] = {};
  library.call("cuDeviceGetName", static_cast<char*>(name), static_cast<int>(sizeof name), handle);
  card.name = name;
  card.capability = 10 * attribute(library, kAttributeMajor, handle) +
                    attribute(library, kAttributeMinor, handle);
  card.processors = attribute(library, kAttributeProcessors, handle);
  std::size_t bytes = 0;
  library.call("cuDeviceTotalMem_v2", &bytes, handle);
  card.total_bytes = static_cast<std::int64_t>(bytes);
  // Two transfers per clock on every card since 2007; kHz times bytes gives kB/s.
  card.memory_gbps = 2.0 * attribute(library, kAttributeMemoryClockKhz, handle) *
                     attribute(library, kAttributeBusWidthBits, handle) / 8 / 1e6;
  return card;
}

std::string kernel_module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);  // "NVRM version: NVIDIA ... Kernel Module  580.159.03  Tue ..."
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (std::isdigit(word[0]) != 0 && word.find('.') != std::string::npos) return word;
  }
  return {};
}

}  // namespace

std::string DriverLibrary::error_name(int code) const {
  const char* name = nullptr;
  if (call("cuGetErrorName", code, &name) == kDriverSuccess && name != nullptr) {
    return fmt::format("{} ({})", name, code);
  }
  return fmt::format("error {}", code);
}

Driver ask_driver() {
  Driver driver;
  const DriverLibrary library;
  if (!library.loaded()) {
    driver.fault = "no NVIDIA driver (libcuda.so.1 not found)";
    return driver;
  }
  driver.driver_version = kernel_module_version();
  const int started = library.call("cuInit", 0U);
  if (started == kNoDevice) {
    driver.fault = "the NVIDIA driver sees no card (CUDA_VISIBLE_DEVICES may hide it)";
    return driver;
  }
  if (started != kDriverSuccess) {
    driver.fault = fmt::format("the NVIDIA driver does not start: cuInit gives {}",
                               library.error_name(started));
    return driver;
  }
  library.call("cuDriverGetVersion", &driver.cuda_version);
  int count = 0;
  library.call("cuDeviceGetCount", &count);
  for (int index = 0; index < count; ++index) driver.cards.push_back(describe(library, index));
  if (count == 0)
    driver.fault = "the NVIDIA driver sees no card (CUDA_VISIBLE_DEVICES may hide it)";
  return driver;
}

}  // namespace ubique::backend::cuda
