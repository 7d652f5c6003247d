// SPDX-License-Identifier: Apache-2.0
// Any bytes as a NumPy array or archive: an Input error, or arrays that are written and read again
// as they were.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "ubique/base/error.h"
#include "ubique/io/arrays/npz.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void examine(const io::HostTensor& tensor) {
  const auto written = io::npy_bytes(tensor);
  const auto again = io::parse_npy(std::as_bytes(std::span(written)), "again");
  require(again.dtype == tensor.dtype && again.shape == tensor.shape &&
          again.bytes == tensor.bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    if (size > 1 && data[0] == 'P' && data[1] == 'K') {
      for (const auto& tensor : io::parse_npz(bytes, "fuzz")) examine(tensor);
    } else {
      examine(io::parse_npy(bytes, "fuzz"));
    }
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}
