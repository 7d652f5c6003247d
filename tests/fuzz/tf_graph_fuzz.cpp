// SPDX-License-Identifier: Apache-2.0
// Any bytes as a TensorFlow graph: an Input error, or constants of the size that they state.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ubique/base/error.h"
#include "ubique/io/graphs/tf_graph.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto graph = io::parse_tf_graph(std::as_bytes(std::span(data, size)), "fuzz");
    require(graph.nodes.size() >= graph.constants.size());
    for (const auto& tensor : graph.constants) {
      const auto expected = io::byte_count(tensor.dtype, tensor.shape);
      require(expected && tensor.bytes.size() == static_cast<std::uint64_t>(*expected));
    }
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}
