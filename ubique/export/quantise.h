// SPDX-License-Identifier: Apache-2.0
// Weights (O, I, k...) in fewer bits. Within each kernel of k... taps, what rounding takes from one
// is given to the others.
#pragma once

#include "ubique/io/tensors/host_tensor.h"

namespace ubique::exporting {

/// f32 to f16. Input error for a weight that f16 cannot hold.
io::HostTensor to_half(const io::HostTensor& tensor);

struct QuantisedTensor {
  io::HostTensor values;  ///< i8, from -127 to 127
  io::HostTensor scales;  ///< f32, one per row: value · scale is the weight
};
/// Each row (output channel) with a scale of its own.
QuantisedTensor quantise_rows(const io::HostTensor& tensor);

struct SmallTensor {
  io::HostTensor values;      ///< u8
  double scale = 1, min = 0;  ///< value · scale + min is the weight
};
/// The whole tensor with one scale, as TensorFlow.js does it: zero stays zero.
SmallTensor quantise_whole(const io::HostTensor& tensor);

}  // namespace ubique::exporting
