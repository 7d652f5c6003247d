// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1, opened at run time; its functions are called by name.
#pragma once

#include <dlfcn.h>

#include <string>

namespace ubique::backend::cuda {

constexpr int kDriverSuccess = 0;

class DriverLibrary {
 public:
  DriverLibrary() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {}
  bool loaded() const { return library_ != nullptr; }

  /// Calls a driver function; -1 if the driver lacks it.
  template <typename... Args>
  int call(const char* function, Args... args) const {
    auto* address = reinterpret_cast<int (*)(Args...)>(dlsym(library_, function));
    return address != nullptr ? address(args...) : -1;
  }

  std::string error_name(int code) const;  ///< "CUDA_ERROR_UNKNOWN (999)"

 private:
  void* library_;
};

}  // namespace ubique::backend::cuda
