// SPDX-License-Identifier: Apache-2.0
// Any bytes as a PyTorch checkpoint of either form, or as the pickle inside a valid zip: an Input
// error, or tensors that fit their shapes and are found by name.
#include <span>
#include <string>

#include "tests/fuzz/fuzz.h"
#include "tests/io/archive/zip_samples.h"
#include "ubique/io/torch/torch_file.h"

using namespace ubique;
using fuzz::require;

namespace {

void examine(const std::string& bytes) {
  const auto file = io::parse_torch_file(fuzz::bytes_of(bytes), "fuzz");
  for (const auto& tensor : file.tensors) {
    const auto expected = io::byte_count(tensor.dtype, tensor.shape);
    require(expected && tensor.bytes.size() == static_cast<std::uint64_t>(*expected));
    require(file.find(tensor.name) == &tensor);
  }
  require(!file.tree.dump().empty());  // all texts are UTF-8
}

}  // namespace

void fuzz::test_input(std::span<const std::byte> input) {
  const std::string text(fuzz::text_of(input));
  const bool is_file = io::looks_like_torch_file(input) || text.starts_with("PK");
  examine(is_file ? text
                  : test::zip_of({{"a/data.pkl", text}, {"a/data/0", std::string(24, 'v')}}));
}
