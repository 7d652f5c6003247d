// SPDX-License-Identifier: Apache-2.0
// A device's own kernel is used once it has given, on that device, what plain ops give in f32:
// chips, drivers and compilers differ, and few of them were at hand when it was written.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace ubique::kernels {

struct Trial {
  at::Tensor got, expected;
};

/// Do all trials of a kernel come out alike, but for rounding? Made once in a process for every
/// `kernel`, a name that says what it was compiled for as well. One that fails is warned of.
bool is_trusted(const std::string& kernel, const at::Tensor& like,
                const std::function<std::vector<Trial>()>& trials);

/// Results of the kernel, each with what is expected of it.
std::vector<Trial> trials_of(const std::vector<at::Tensor>& got,
                             const std::vector<at::Tensor>& expected);

/// Values within 1 without a pattern, the same for the same `seed`; no generator moves on.
at::Tensor made_up(at::IntArrayRef shape, const at::Tensor& like, int seed);

}  // namespace ubique::kernels
