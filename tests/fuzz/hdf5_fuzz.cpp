// SPDX-License-Identifier: Apache-2.0
// Any bytes as an HDF5 file: an Input error, or tensors that lie inside the file.
#include <span>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/arrays/hdf5.h"

using namespace ubique;
using fuzz::require;

void fuzz::test_input(std::span<const std::byte> input) {
  const auto content = io::parse_hdf5(input, "fuzz");
  require(content.swapped.size() == content.tensors.size());
  for (const auto& tensor : content.tensors) {
    require(tensor.begin <= tensor.end && tensor.end <= input.size() && !tensor.name.empty());
  }
}
