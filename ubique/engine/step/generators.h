// SPDX-License-Identifier: Apache-2.0
// Saves and restores the states of torch's random generators, which dropout uses: for an exact
// resume, for repeating a pass, and for work that must not change later random numbers.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace ubique::engine {

struct GeneratorStates {
  at::Tensor cpu;
  at::Tensor device;  ///< undefined where the device is the CPU
};

/// States are byte tensors on the host; reading them does not wait for the device.
GeneratorStates generator_states(c10::Device device);
void restore_generators(c10::Device device, const GeneratorStates& states);

/// Restores the states at the end of a scope.
class ScopedGenerators {
 public:
  explicit ScopedGenerators(c10::Device device);
  ~ScopedGenerators();
  ScopedGenerators(const ScopedGenerators&) = delete;
  ScopedGenerators& operator=(const ScopedGenerators&) = delete;

 private:
  c10::Device device_;
  GeneratorStates states_;
};

}  // namespace ubique::engine
