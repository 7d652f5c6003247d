// SPDX-License-Identifier: Apache-2.0
// One of our kernels on a card: compiled at first use, cached on disk, launched on LibTorch's
// current stream.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace ubique::backend::cuda {

struct LaunchShape {
  std::int64_t blocks = 1;
  int threads = 1;
  int shared_bytes = 0;
  /// Programmatic dependent launch: blocks may start while the previous kernel still runs, and wait
  /// for it themselves (griddepcontrol). Works in CUDA graphs too.
  bool early = false;
};

class Kernel {
 public:
  explicit Kernel(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  /// Arguments must match the kernel's declaration byte for byte. Internal error on failure. By
  /// reference: g++ remarks on every tensor map (aligned to 64 bytes) that is passed by value.
  template <typename... Args>
  void launch(c10::Device device, const LaunchShape& shape, const Args&... args) const {
    static_assert((!std::is_array_v<Args> && ...), "a kernel takes a pointer, not an array");
    void* pointers[] = {const_cast<void*>(static_cast<const void*>(&args))...};
    launch_with(device, shape, pointers);
  }

 private:
  void launch_with(c10::Device device, const LaunchShape& shape, void** arguments) const;

  void* handle_;
  std::string name_;
};

struct CardLimits {
  int capability = 0;
  int processors = 0;
  int shared_bytes = 0;  ///< maximum per block
};
const CardLimits& card_limits(c10::Device device);

/// True if kernels can be compiled and loaded here. Otherwise warns once with the reason.
bool can_run_kernels();

/// The kernel `function` of a file of sources/, for the card's architecture.
const Kernel& kernel(c10::Device device, const std::string& source, const std::string& function,
                     const std::vector<std::string>& defines);

}  // namespace ubique::backend::cuda
