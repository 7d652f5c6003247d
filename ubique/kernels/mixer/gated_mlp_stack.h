// SPDX-License-Identifier: Apache-2.0
// A stack of mixing blocks called again and again on few samples, where a device has kernels of its
// own for that: what one layer leaves for the next never takes the form of a tensor. Without
// autograd.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ubique/kernels/mixer/gated_mlp.h"

namespace ubique::kernels {

struct MixStack {
  std::vector<at::Tensor> packed;  ///< for each block: token mixing, the gate, the way down

  /// Puts a block of token_mix and channel_mix on top, if the device has the kernels and no
  /// gradient is wanted.
  void add(const GatedWeights& tokens, const GatedWeights& channels);

  /// So few samples that this is the faster way, and no gradient is recorded?
  bool takes(const at::Tensor& h) const;

  /// `times` over: h = blocks(h + injected), for h and injected (B, L, H).
  at::Tensor call(const at::Tensor& h, const at::Tensor& injected, std::int64_t times) const;
};

}  // namespace ubique::kernels
