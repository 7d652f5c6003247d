// SPDX-License-Identifier: Apache-2.0
// The norms and activations that fused kernels know, and their names. Plain data, no torch.
#pragma once

#include <string_view>

namespace ubique::kernels {

enum class Activation {
  None,
  Relu,
  Elu,       ///< alpha 1
  Gelu,      ///< the exact one, by erf
  GeluTanh,  ///< the approximation by tanh
};

enum class Norm {
  Batch,
  Instance,  ///< per sample and channel, without weights (GroupNorm with as many groups as
             ///< channels)
  None,      ///< also what a folded batch norm leaves behind
};

std::string_view to_string(Activation activation);   ///< "none", "relu", "elu", "gelu", "gelu_tanh"
std::string_view to_string(Norm norm);               ///< "batch", "instance", "none"
Activation parse_activation(std::string_view text);  ///< Usage error, did you mean
Norm parse_norm(std::string_view text);

}  // namespace ubique::kernels
