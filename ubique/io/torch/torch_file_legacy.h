// SPDX-License-Identifier: Apache-2.0
// The format of torch.save before PyTorch 1.6, still used by older torchvision weights: five
// pickles in a row (magic number, version, system info, the object, the keys of the storages), then
// each storage as an element count and its values.
#pragma once

#include "ubique/io/torch/torch_file.h"

namespace ubique::io {

bool starts_like_legacy_torch(std::span<const std::byte> file);

/// As parse_torch_file(), for a file with this start.
TorchFile parse_legacy_torch_file(std::span<const std::byte> file, const std::string& name,
                                  const TensorFilter& wanted);

}  // namespace ubique::io
