// SPDX-License-Identifier: Apache-2.0
// A kernel of ours on a card: compiled at first use, kept on disk for the next program, launched on
// LibTorch's current stream.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ubique::backend::cuda {

struct LaunchShape {
  std::int64_t blocks = 1;
  int threads = 1;
  int shared_bytes = 0;
  /// Its blocks may start while the kernel before it, one of ours that says when, still runs; they
  /// wait for it themselves (griddepcontrol). Recordings keep this.
  bool early = false;
};

class Kernel {
 public:
  explicit Kernel(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  /// Arguments as the kernel declares them, byte for byte. Internal error if the driver refuses.
  template <typename... Args>
  void launch(c10::Device device, const LaunchShape& shape, Args... args) const {
    void* pointers[] = {&args...};
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
  int shared_bytes = 0;  ///< the most that one block may ask for
};
const CardLimits& card_limits(c10::Device device);

/// Can kernels be compiled and loaded here? Warns once if not, saying why.
bool can_run_kernels();

/// The kernel `function` of a file of sources/, for the card's architecture.
const Kernel& kernel(c10::Device device, const std::string& source, const std::string& function,
                     const std::vector<std::string>& defines);

}  // namespace ubique::backend::cuda
