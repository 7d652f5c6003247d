// SPDX-License-Identifier: Apache-2.0
// Any bytes as a NumPy array or archive: an Input error, or arrays that survive being written
// and read again.
#include <span>
#include <string>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/arrays/npz.h"

using namespace ubique;
using fuzz::require;

namespace {

void examine(const io::HostTensor& tensor) {
  const auto written = io::npy_bytes(tensor);
  const auto again = io::parse_npy(fuzz::bytes_of(written), "again");
  require(again.dtype == tensor.dtype && again.shape == tensor.shape &&
          again.bytes == tensor.bytes);
}

}  // namespace

void fuzz::test_input(std::span<const std::byte> input) {
  if (fuzz::text_of(input).starts_with("PK")) {
    for (const auto& tensor : io::parse_npz(input, "fuzz")) examine(tensor);
  } else {
    examine(io::parse_npy(input, "fuzz"));
  }
}
