// SPDX-License-Identifier: Apache-2.0
// Any bytes as a GGUF file: an Input error, or metadata and tensors that survive being written and
// read again.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/graphs/gguf.h"

using namespace ubique;
using fuzz::require;

void fuzz::test_input(std::span<const std::byte> input) {
  const auto file = io::GgufFile::from_memory(input, "fuzz");
  std::vector<io::GgufTensorData> tensors;
  bool writable = true;  // the reader takes what the writer refuses: empty names, one of 64 bytes
  for (const auto& tensor : file.tensors()) {
    writable = writable && !tensor.name.empty() && tensor.name.size() < 64;
    tensors.push_back({tensor.name, tensor.type, tensor.shape, file.bytes(tensor), {}});
  }
  auto metadata = file.metadata();
  std::erase_if(metadata, [](const auto& entry) { return entry.first == "general.alignment"; });
  for (const auto& entry : metadata) writable = writable && !entry.first.empty();
  if (!writable) return;
  const auto written = io::gguf_bytes(metadata, tensors);
  const auto again = io::GgufFile::from_memory(fuzz::bytes_of(written), "again");
  require(again.metadata().size() == metadata.size());
  require(again.tensors().size() == tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto bytes = again.bytes(again.tensors()[i]);
    require(
        std::equal(bytes.begin(), bytes.end(), tensors[i].bytes.begin(), tensors[i].bytes.end()));
  }
  require(io::gguf_bytes(again.metadata(), tensors) == written);
}
