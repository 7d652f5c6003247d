// SPDX-License-Identifier: Apache-2.0
// Any bytes as a safetensors file: an Input error, or tensors inside the file that are found by
// name and that survive a rewritten header.
#include <span>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/tensor_stats.h"

using namespace ubique;
using fuzz::require;

namespace {

void examine(const io::SafetensorsFile& file) {
  std::uint64_t end = 0;
  for (const auto& tensor : file.tensors()) {
    require(tensor.begin == end);
    end = tensor.end;
    const auto* found = file.find(tensor.name);
    require(found == &tensor);
    const auto stats = io::tensor_stats(tensor.dtype, file.bytes(tensor));
    require(!stats || stats->count == io::element_count(tensor.shape));
  }
}

void examine_rewritten(const io::SafetensorsFile& file) {
  const auto text = io::safetensors_header_text({file.tensors(), file.metadata()});
  std::string whole = text;
  if (!file.tensors().empty()) whole.resize(text.size() + file.tensors().back().end);
  const auto again = io::SafetensorsFile::from_memory(fuzz::bytes_of(whole), "rewritten");
  require(again.metadata() == file.metadata());
  require(again.tensors().size() == file.tensors().size());
  for (std::size_t i = 0; i < again.tensors().size(); ++i) {
    const auto &a = again.tensors()[i], &b = file.tensors()[i];
    require(a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.end == b.end);
  }
}

}  // namespace

void fuzz::test_input(std::span<const std::byte> input) {
  const auto file = io::SafetensorsFile::from_memory(input, "fuzz");
  examine(file);
  examine_rewritten(file);
}
