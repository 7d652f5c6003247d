// SPDX-License-Identifier: Apache-2.0
// The device's random generator: another stream than the CPU's for the same seed.
#pragma once

#include <ATen/core/Generator.h>

namespace ubique::backend::sham {

const at::Generator& default_generator();
at::Generator new_generator();
/// The CPU generator that CPU kernels use in place of the device's `generator`.
at::Generator host_twin(const at::Generator& generator);

}  // namespace ubique::backend::sham
