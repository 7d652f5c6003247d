// SPDX-License-Identifier: Apache-2.0
// Any bytes as an HDF5 file: an Input error, or tensors that lie inside the file.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ubique/base/error.h"
#include "ubique/io/arrays/hdf5.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto content = io::parse_hdf5(std::as_bytes(std::span(data, size)), "fuzz");
    require(content.swapped.size() == content.tensors.size());
    for (const auto& tensor : content.tensors) {
      require(tensor.begin <= tensor.end && tensor.end <= size && !tensor.name.empty());
    }
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}
