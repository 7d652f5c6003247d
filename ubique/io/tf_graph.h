// SPDX-License-Identifier: Apache-2.0
// TensorFlow's graphs with the weights inside: frozen .pb files (GraphDef) and saved_model.pb,
// whose constants may sit in functions. Only what weights need is read: nodes by name and operator,
// their switches, and constants. Nothing is computed.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/host_tensor.h"
#include "ubique/io/tensor_filter.h"

namespace ubique::io {

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
