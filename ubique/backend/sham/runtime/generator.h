// SPDX-License-Identifier: Apache-2.0
// The device's random generator: for the same seed a different stream than the CPU's, as on real
// devices.
#pragma once

#include <ATen/core/Generator.h>

namespace ubique::backend::sham {

const at::Generator& default_generator();
at::Generator new_generator();
/// The CPU generator that CPU kernels use in place of the device's `generator`.
at::Generator host_twin(const at::Generator& generator);

}  // namespace ubique::backend::sham
