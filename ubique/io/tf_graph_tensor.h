// SPDX-License-Identifier: Apache-2.0
// One constant of a TensorFlow graph (TensorProto): its type, shape and values, which are raw bytes
// or a list whose last value counts for all that follow.
#pragma once

#include <optional>

#include "ubique/io/host_tensor.h"

namespace ubique::io {

/// Nothing for types that hold no numbers (texts, resources). `room` is how many bytes may still be
/// made of short lists; it shrinks. `with_values` false: shape and type alone. Input error, naming
/// `file` and `name`, for values that do not fit the shape.
std::optional<HostTensor> parse_tf_tensor(std::span<const std::byte> message,
                                          const std::string& name, bool with_values,
                                          std::uint64_t& room, const std::string& file);

}  // namespace ubique::io
