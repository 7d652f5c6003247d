// SPDX-License-Identifier: Apache-2.0
// The contract of a backend: how one kind of device is loaded and described. Built-in backends are
// registered by a file that CMake generates from ubique/backend/*; a plug-in (libubique_NAME.so)
// registers itself when --device NAME first asks for it.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>
#include <vector>

#include "ubique/device/collectives.h"
#include "ubique/device/facts.h"
#include "ubique/device/recording.h"

namespace ubique::device {

/// What looking for a backend's devices found: facts, or the reason why there are none.
struct Detection {
  std::vector<Facts> devices;
  std::string reason;  ///< why there is none, or a remark for the user ("ROCm, untested")
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;  ///< what --device takes
  virtual Kind kind() const = 0;
  /// Position in the order in which `auto` tries backends (1 = first); 0 = never tried.
  virtual int auto_order() const = 0;
  /// Loads the vendor's libraries if need be and describes the devices. Never throws for a device
  /// that is absent or broken: that is a Detection with a reason. Called once per process.
  virtual Detection detect() = 0;
  virtual c10::Device torch_device(int index) const = 0;

  /// (optional) Records work that is then launched as one; see recording.h.
  virtual std::unique_ptr<Recording> record(c10::Device /*device*/, const std::string& /*name*/,
                                            const std::function<void()>& /*work*/,
                                            const Recording* /*beside*/) {
    return nullptr;
  }
  /// (optional) What moves data between the devices of several processes; see collectives.h.
  virtual const CollectivesLibrary* collectives() { return nullptr; }
  /// (optional) Lines about what happened on the device, for --verbose and reports.
  virtual std::string ledger() const { return {}; }
};

/// Called by each backend once; the registry keeps it for the life of the process.
void register_backend(std::unique_ptr<Backend> backend);
/// Every registered backend, in the order of auto_order (those that auto never picks last).
std::vector<Backend*> backends();
/// A registered backend, or the plug-in of that name loaded now; nullptr if there is neither.
Backend* find_backend(const std::string& name);
/// Names that --device takes on this build, for help and "did you mean".
std::vector<std::string> backend_names();

}  // namespace ubique::device

/// In a plug-in: makes the entry point that the loader calls.
#define UBIQUE_REGISTER_PLUGIN(BackendType)                                  \
  extern "C" __attribute__((visibility("default"))) void ubique_register() { \
    ubique::device::register_backend(std::make_unique<BackendType>());       \
  }                                                                          \
  static_assert(true, "a semicolon follows")
