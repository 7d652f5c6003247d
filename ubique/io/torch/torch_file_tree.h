// SPDX-License-Identifier: Apache-2.0
// Converts a checkpoint's pickle: tensors named by the path of their keys, everything else as JSON.
#pragma once

#include <string>

#include "ubique/io/torch/pickle.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/io/torch/torch_file_tensor.h"

namespace ubique::io {

/// Input error for values of unknown types, for keys that are neither text nor number, for names
/// given twice, and for trees that are too deep or become too large because values are shared.
TorchFile torch_tree(const Pickle& pickle, TorchTensors& tensors, const std::string& file);

}  // namespace ubique::io
