// SPDX-License-Identifier: Apache-2.0
// A fused kernel is compared with plain f32 ops on the device, once per process, before it is used:
// chips, drivers and compilers differ, and it was developed on few of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace ubique::kernels {

struct Trial {
  at::Tensor got, expected;
};

/// True if all trials agree up to rounding. Runs once per process for each device, dtype and
/// `kernel`, a name that includes the shapes it was compiled for. A failure is logged as a warning.
bool passes_self_check(const std::string& kernel, const at::Tensor& like,
                       const std::function<std::vector<Trial>()>& trials);

/// Pairs the kernel's results with the expected ones.
std::vector<Trial> trials_of(const std::vector<at::Tensor>& got,
                             const std::vector<at::Tensor>& expected);

/// Pseudo-random values in [-1, 1], the same for the same `seed`; uses no random generator.
at::Tensor test_values(at::IntArrayRef shape, const at::Tensor& like, int seed);

}  // namespace ubique::kernels
