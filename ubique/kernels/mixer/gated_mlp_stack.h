// SPDX-License-Identifier: Apache-2.0
// Repeated calls of a stack of gated MLP blocks on few samples, on devices with a fused kernel for
// it: no intermediate result is stored as a tensor. Inference only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ubique/kernels/mixer/gated_mlp.h"

namespace ubique::kernels {

struct GatedMlpStack {
  std::vector<at::Tensor> packed;  ///< per block: token MLP, gate_up, down

  /// Appends a block (token_mlp_block, then swiglu_block) if the device has the kernels and neither
  /// weight wants a gradient.
  void add(const GatedWeights& tokens, const GatedWeights& channels);

  /// True if the batch is small enough for this to be faster, and no gradient is recorded.
  bool takes(const at::Tensor& h) const;

  /// Repeats h = blocks(h + injected) `times` times; h and injected are (B, L, H).
  at::Tensor call(const at::Tensor& h, const at::Tensor& injected, std::int64_t times) const;
};

}  // namespace ubique::kernels
