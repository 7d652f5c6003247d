// SPDX-License-Identifier: Apache-2.0
// Any bytes as a PyTorch checkpoint of either form, or as the pickle inside one whose zip is sound:
// an Input error, or tensors of the size that they state, found by name.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "tests/io/archive/zip_samples.h"
#include "ubique/base/error.h"
#include "ubique/io/torch/torch_file.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void examine(const std::string& bytes) {
  const auto file = io::parse_torch_file(std::as_bytes(std::span(bytes)), "fuzz");
  for (const auto& tensor : file.tensors) {
    const auto expected = io::byte_count(tensor.dtype, tensor.shape);
    require(expected && tensor.bytes.size() == static_cast<std::uint64_t>(*expected));
    require(file.find(tensor.name) == &tensor);
  }
  require(!file.tree.dump().empty());  // all texts are UTF-8
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const bool is_file = io::looks_like_torch_file(std::as_bytes(std::span(input)));
  try {
    examine(is_file || input.starts_with("PK")
                ? input
                : test::zip_of({{"a/data.pkl", input}, {"a/data/0", std::string(24, 'v')}}));
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}
