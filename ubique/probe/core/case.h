// SPDX-License-Identifier: Apache-2.0
// A probe request of a model family: an op with the channels, dilations and head sizes that it
// really uses, extents scaled down. Plain data, so that it can come from a file; probe/suite.h runs
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/base/numbers/dtype.h"
#include "ubique/probe/core/verdict.h"

namespace ubique::probe {

/// One op at one configuration. Fields that an op does not use are ignored; suite.h lists the ops.
struct Case {
  std::string op;  ///< "matmul", "conv2d", "conv3d", "attention", "batch_norm3d" ...
  std::vector<std::int64_t>
      shape;  ///< input shape, extents scaled down: (B, C, D, H, W), (B, T, C) ...
  std::int64_t out_channels = 0;
  std::int64_t kernel = 3;
  std::int64_t dilation = 1;
  std::int64_t heads = 0;     ///< attention: query heads
  std::int64_t kv_heads = 0;  ///< attention: key/value heads (GQA, MQA); 0 = heads
  std::int64_t head_dim = 0;
  bool causal = false;
  std::int64_t window = 0;    ///< sliding window; 0 = none
  bool frozen_input = false;  ///< gradient pattern: input needs none, parameters do
  std::vector<DType> dtypes = {DType::F32};
  std::vector<Layout> layouts = {Layout::Contiguous};
  bool gradient = true;  ///< probe the gradients too
  bool timed = false;    ///< time it as well, on the device and on the CPU
};

/// Multiplications of a convolution's forward pass.
double conv_work(const Case& request);

}  // namespace ubique::probe
