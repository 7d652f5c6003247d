// SPDX-License-Identifier: Apache-2.0
// A differentiable op as data, and how it is probed: the same rounded inputs go through the op on
// the device and, in float64, on the CPU; outputs or gradients are compared under the error model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ubique/probe/core/error_model.h"
#include "ubique/probe/core/probe.h"

namespace ubique::probe {

using Tensors = std::vector<at::Tensor>;

/// One input of an op: normal random numbers, rounded to the probe's dtype.
struct Operand {
  std::string name;  ///< "input", "weight": for messages
  std::vector<std::int64_t> shape;
  double deviation = 1;
  double mean = 0;
  bool wants_gradient = true;
  bool keeps_f32 =
      false;  ///< stays float32 whatever the probe's dtype (norm parameters, statistics)
  RoundingPath gradient_path = {};
};

struct Operation {
  std::vector<Operand> operands;
  /// Runs on whatever device and dtype its inputs have. Gradients flow from the first output.
  std::function<Tensors(const Tensors&)> forward;
  RoundingPath path = {};
  /// (optional) A property that must hold on the device; checked after a correct forward pass.
  std::function<Finding(const Tensors& inputs, const at::Tensor& output, double tolerance)>
      invariant = {};
  bool timed = false;
  double work = 0;  ///< multiplications of a forward pass; 0 = hardly any
};

/// A tensor of this operand on the CPU, in the dtype, from the given stream.
at::Tensor make_operand(const Operand& operand, DType dtype, const Random& random);

/// Two probes (forward and, if wanted, gradient) for each dtype and layout.
struct OperationProbes {
  std::string op, tag = {};
  Operation operation = {};
  std::vector<DType> dtypes = {DType::F32, DType::BF16, DType::F16};
  std::vector<Layout> layouts = {Layout::Contiguous};
  bool gradient = true;
};
std::vector<Probe> make_probes(const OperationProbes& what);

}  // namespace ubique::probe
