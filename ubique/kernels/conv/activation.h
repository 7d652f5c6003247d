// SPDX-License-Identifier: Apache-2.0
// The norms and activations that the fused kernels support, and their names. No torch.
#pragma once

#include <string_view>

namespace ubique::kernels {

enum class Activation {
  None,
  Relu,
  Elu,       ///< alpha 1
  Gelu,      ///< exact, with erf
  GeluTanh,  ///< the tanh approximation
};

enum class Norm {
  Batch,
  Instance,  ///< per sample and channel, without weights (GroupNorm with one group per channel)
  None,      ///< also after a batch norm was folded into the convolution
};

std::string_view to_string(Activation activation);   ///< "none", "relu", "elu", "gelu", "gelu_tanh"
std::string_view to_string(Norm norm);               ///< "batch", "instance", "none"
Activation parse_activation(std::string_view text);  ///< Usage error with a suggestion
Norm parse_norm(std::string_view text);

}  // namespace ubique::kernels
