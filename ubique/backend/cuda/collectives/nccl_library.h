// SPDX-License-Identifier: Apache-2.0
// libnccl.so.2, which LibTorch's CUDA library brings along, opened at run time; its functions are
// called by name. Of its C interface only what is used here is declared.
#pragma once

#include <dlfcn.h>

#include <string>

namespace ubique::backend::cuda {

// Values from NVIDIA's public interface.
constexpr int kNcclSuccess = 0;
constexpr int kNcclInProgress = 7;
constexpr int kNcclBytes = 1;  // ncclUint8: bytes are moved, never computed with

struct NcclId {
  char bytes[128];
};

class NcclLibrary {
 public:
  explicit NcclLibrary(const std::string& file = "libnccl.so.2")
      : library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  bool loaded() const { return library_ != nullptr; }

  /// Calls a function of the library; -1 if it lacks it.
  template <typename... Args>
  int call(const char* function, Args... args) const {
    auto* address = reinterpret_cast<int (*)(Args...)>(dlsym(library_, function));
    return address != nullptr ? address(args...) : -1;
  }

  std::string error_text(int code) const {
    auto* address = reinterpret_cast<const char* (*)(int)>(dlsym(library_, "ncclGetErrorString"));
    return address != nullptr && code >= 0 ? address(code) : "a function is missing";
  }

 private:
  void* library_;
};

}  // namespace ubique::backend::cuda
