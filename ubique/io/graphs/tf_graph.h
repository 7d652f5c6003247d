// SPDX-License-Identifier: Apache-2.0
// One constant of a TensorFlow graph (TensorProto): its type, shape and values, which are raw bytes
// or a list whose last value counts for all that follow.
// TensorFlow's graphs with the weights inside: frozen .pb files (GraphDef) and saved_model.pb,
// whose constants may sit in functions. Only what weights need is read: nodes by name and operator,
// their switches, and constants. Nothing is computed.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/tensors/host_tensor.h"
#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {

/// Nothing for types that hold no numbers (texts, resources). `room` is how many bytes may still be
/// made of short lists; it shrinks. `with_values` false: shape and type alone. Input error, naming
/// `file` and `name`, for values that do not fit the shape.
std::optional<HostTensor> parse_tf_tensor(std::span<const std::byte> message,
                                          const std::string& name, bool with_values,
                                          std::uint64_t& room, const std::string& file);

struct TfNode {
  std::string name, op;                  ///< "conv1/conv1_1/Conv2D", "Conv2D"
  std::map<std::string, bool> switches;  ///< attributes that are true or false
};

struct TfGraph {
  std::vector<TfNode> nodes;          ///< the graph's own, then those of its functions
  std::vector<HostTensor> constants;  ///< Const nodes that hold numbers, in that order; names of
                                      ///< two functions may be the same
};

/// Values of constants that `wanted` takes. Input error for files that are damaged, cut short, or
/// no graph, and for constants whose shapes lie.
TfGraph read_tf_graph(const std::filesystem::path& path, const TensorFilter& wanted = {});
/// The same from memory; `name` stands for the file in messages.
TfGraph parse_tf_graph(std::span<const std::byte> file, const std::string& name,
                       const TensorFilter& wanted = {});

}  // namespace ubique::io
