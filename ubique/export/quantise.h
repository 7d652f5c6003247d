// SPDX-License-Identifier: Apache-2.0
// Weights (O, I, k...) in fewer bits. Within each kernel of k... taps, the rounding error of one
// tap is carried over to the next ones.
#pragma once

#include "ubique/io/tensors/host_tensor.h"

namespace ubique::exporting {

/// f32 to f16. Input error for a weight that f16 cannot hold.
io::HostTensor to_half(const io::HostTensor& tensor);

struct QuantisedTensor {
  io::HostTensor values;  ///< i8, from -127 to 127
  io::HostTensor scales;  ///< f32, one per row: value · scale is the weight
};
/// One scale per row (output channel).
QuantisedTensor quantise_rows(const io::HostTensor& tensor);

struct SmallTensor {
  io::HostTensor values;      ///< u8
  double scale = 1, min = 0;  ///< value · scale + min is the weight
};
/// One scale for the whole tensor, as in TensorFlow.js; zero is represented exactly.
SmallTensor quantise_whole(const io::HostTensor& tensor);

}  // namespace ubique::exporting
