// SPDX-License-Identifier: Apache-2.0
// Reads TensorFlow graphs with embedded weights: frozen .pb files (GraphDef) and saved_model.pb,
// whose constants may be in functions. Only what is needed to import weights: the nodes' names,
// operators and boolean attributes, and the constants.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/tensors/host_tensor.h"
#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {

struct TfNode {
  std::string name, op;                  ///< "conv1/conv1_1/Conv2D", "Conv2D"
  std::map<std::string, bool> switches;  ///< boolean attributes
};

struct TfGraph {
  std::vector<TfNode> nodes;          ///< of the graph, then of its functions
  std::vector<HostTensor> constants;  ///< numeric Const nodes in the same order; two functions may
                                      ///< use the same names
};

/// Reads values only of constants that `wanted` selects. Input error for files that are damaged,
/// cut short or no graph, and for constants whose values do not fit their shape.
TfGraph read_tf_graph(const std::filesystem::path& path, const TensorFilter& wanted = {});
/// The same from memory; error messages call the file `name`.
TfGraph parse_tf_graph(std::span<const std::byte> file, const std::string& name,
                       const TensorFilter& wanted = {});

}  // namespace ubique::io
