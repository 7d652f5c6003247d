// SPDX-License-Identifier: Apache-2.0
// The form that torch.save wrote before PyTorch 1.6, in which torchvision's older weights still
// come: five pickles one after the other (a number to know it by, a version, a machine's facts, the
// object, the storages' keys), then each storage's values after their count.
#pragma once

#include "ubique/io/torch/torch_file.h"

namespace ubique::io {

bool starts_like_legacy_torch(std::span<const std::byte> file);

/// As parse_torch_file, of a file that starts so.
TorchFile parse_legacy_torch_file(std::span<const std::byte> file, const std::string& name,
                                  const TensorFilter& wanted);

}  // namespace ubique::io
