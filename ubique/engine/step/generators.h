// SPDX-License-Identifier: Apache-2.0
// The states of torch's own generators (dropout draws from them), kept and put back: for an exact
// resume, for a pass that is repeated, for work that must leave no trace.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace ubique::engine {

struct GeneratorStates {
  at::Tensor cpu;
  at::Tensor device;  ///< undefined where the device is the CPU
};

/// States are bytes on the host; nothing waits for the device.
GeneratorStates generator_states(c10::Device device);
void restore_generators(c10::Device device, const GeneratorStates& states);

/// Puts the states back that it found.
class KeepGenerators {
 public:
  explicit KeepGenerators(c10::Device device);
  ~KeepGenerators();
  KeepGenerators(const KeepGenerators&) = delete;
  KeepGenerators& operator=(const KeepGenerators&) = delete;

 private:
  c10::Device device_;
  GeneratorStates states_;
};

}  // namespace ubique::engine
