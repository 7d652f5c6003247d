// SPDX-License-Identifier: Apache-2.0
// The feed-forward layers of a transformer block: gated (SwiGLU and its relatives) and plain.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "ubique/nn/layers/linear.h"

namespace ubique::nn {

enum class Activation {
  Silu,      ///< x · sigmoid(x)
  Gelu,      ///< exact, by erf
  GeluTanh,  ///< the approximation by tanh
};

std::string_view to_string(Activation activation);   ///< "silu", "gelu", "gelu_tanh"
Activation parse_activation(std::string_view text);  ///< Usage error that lists the names

at::Tensor activate(const at::Tensor& x, Activation activation);

/// down(activation(gate(x)) · up(x)): x (..., H), gate and up (I, H), down (H, I).
at::Tensor gated_mlp(const at::Tensor& x, const LinearWeights& gate, const LinearWeights& up,
                     const LinearWeights& down, Activation activation, bool training = false);

/// second(activation(first(x))): x (..., H), first (I, H), second (H, I).
at::Tensor mlp(const at::Tensor& x, const LinearWeights& first, const LinearWeights& second,
               Activation activation, bool training = false);

/// mlp(x, first, second, activation).
kernels::Branch mlp_branch(const at::Tensor& x, const LinearWeights& first,
                           const LinearWeights& second, Activation activation,
                           const BranchOptions& options);

}  // namespace ubique::nn
