// SPDX-License-Identifier: Apache-2.0
// The device's random numbers: another stream than the CPU's for every seed, as on real devices.
#pragma once

#include <ATen/core/Generator.h>

namespace ubique::backend::sham {

const at::Generator& default_generator();
at::Generator new_generator();
/// The generator that CPU kernels draw from when the device's `generator` is asked for.
at::Generator host_twin(const at::Generator& generator);

}  // namespace ubique::backend::sham
