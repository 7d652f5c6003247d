// SPDX-License-Identifier: Apache-2.0
// Walks a checkpoint's pickle from its root: tensors by the path of keys that leads to them,
// everything else as JSON.
#pragma once

#include <string>

#include "ubique/io/torch/pickle.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/io/torch/torch_file_tensor.h"

namespace ubique::io {

/// Input error for values without a meaning here, for keys that are no text or number, for names
/// given twice, and for trees that are too deep or that grow too large by sharing.
TorchFile torch_tree(const Pickle& pickle, TorchTensors& tensors, const std::string& file);

}  // namespace ubique::io
