// SPDX-License-Identifier: Apache-2.0
// The device that UBIQUE_TEST_DEVICE names, for suites that run on any; cpu without it.
#pragma once

#include <c10/core/Device.h>

#include <cstdlib>
#include <string>

#include "ubique/device/numerics.h"
#include "ubique/device/select.h"

namespace ubique::test {

inline std::string device_name() {
  const char* name = std::getenv("UBIQUE_TEST_DEVICE");
  return name != nullptr && *name != '\0' ? name : "cpu";
}

/// Chosen before any test begins: what LibTorch finds at its first use is what it keeps to. Without
/// TF32, which LibTorch allows to convolutions by default.
inline const c10::Device kDevice = [] {
  const auto chosen = device::select(device::parse_request(device_name())).torch_device;
  device::apply_numerics(chosen, {.tf32 = false});
  return chosen;
}();

}  // namespace ubique::test
