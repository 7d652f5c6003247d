// SPDX-License-Identifier: Apache-2.0
// The small things beside the tensors of a checkpoint that Python spells as calls: bytes, devices
// and NumPy's numbers.
#pragma once

#include <optional>
#include <string>

#include "ubique/base/json.h"
#include "ubique/io/pickle.h"

namespace ubique::io {

/// Of a Bytes node, or of a call that gives bytes in Python; nothing if it is neither.
std::optional<std::string> pickled_bytes(const Pickle& pickle, const PickleNode& node);

/// A torch.device as its text, a NumPy number as a number; nothing if the call is something else.
/// Input error for NumPy numbers that are no integer, float or bool.
std::optional<Json> pickled_value(const Pickle& pickle, const PickleNode& call,
                                  const std::string& file);

}  // namespace ubique::io
