// SPDX-License-Identifier: Apache-2.0
// Computes a TensorFlow.js layers model with LibTorch on the CPU, to check exported files. Slow;
// supports the layers that tfjs.cpp uses.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/io/graphs/tfjs.h"

namespace ubique::exporting {

/// Input and output have channels first.  (B, C, ...)
at::Tensor run_tfjs(const io::TfjsModel& model, const at::Tensor& input);

}  // namespace ubique::exporting
