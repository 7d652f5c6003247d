// SPDX-License-Identifier: Apache-2.0
// The kernels of host_product.h in the instruction sets of x86 processors.
#pragma once

#include <vector>

#include "ubique/kernels/quant/host_product.h"

namespace ubique::kernels {

/// Those that this processor has, the best first; none on other processors.
std::vector<QuantKernels> x86_quant_kernels();

}  // namespace ubique::kernels
