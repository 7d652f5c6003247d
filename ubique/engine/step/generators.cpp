// SPDX-License-Identifier: Apache-2.0
// The default generators of the CPU and of one device.
#include "ubique/engine/step/generators.h"

#include <ATen/ATen.h>

#include <mutex>

namespace ubique::engine {
namespace {

at::Tensor state_of(c10::Device device) {
  auto generator = at::globalContext().defaultGenerator(device);
  const std::scoped_lock lock(generator.mutex());
  return generator.get_state();
}

void set_state(c10::Device device, const at::Tensor& state) {
  auto generator = at::globalContext().defaultGenerator(device);
  const std::scoped_lock lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace

GeneratorStates generator_states(c10::Device device) {
  return {state_of(c10::Device(c10::kCPU)), device.is_cpu() ? at::Tensor() : state_of(device)};
}

void restore_generators(c10::Device device, const GeneratorStates& states) {
  if (states.cpu.defined()) set_state(c10::Device(c10::kCPU), states.cpu);
  if (states.device.defined() && !device.is_cpu()) set_state(device, states.device);
}

ScopedGenerators::ScopedGenerators(c10::Device device)
    : device_(device), states_(generator_states(device)) {}

ScopedGenerators::~ScopedGenerators() { restore_generators(device_, states_); }

}  // namespace ubique::engine
