// SPDX-License-Identifier: Apache-2.0
// Computations that run on any device from the same inputs and return their results on the CPU: the
// ops of models, with gradients, and the cases that the mutations change.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

namespace ubique::test {

struct Computation {
  std::string name;
  std::function<std::vector<at::Tensor>(c10::Device)> run;  ///< results on the CPU
};

const std::vector<Computation>& battery();

/// Names of the computations whose results on the two devices differ by more than rounding.
std::vector<std::string> disagreements(c10::Device device);

}  // namespace ubique::test
