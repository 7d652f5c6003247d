// SPDX-License-Identifier: Apache-2.0
// Any bytes as a TensorFlow graph: an Input error, or constants that fit their shapes.
#include <span>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/graphs/tf_graph.h"

using namespace ubique;
using fuzz::require;

void fuzz::test_input(std::span<const std::byte> input) {
  const auto graph = io::parse_tf_graph(input, "fuzz");
  require(graph.nodes.size() >= graph.constants.size());
  for (const auto& tensor : graph.constants) {
    const auto expected = io::byte_count(tensor.dtype, tensor.shape);
    require(expected && tensor.bytes.size() == static_cast<std::uint64_t>(*expected));
  }
}
