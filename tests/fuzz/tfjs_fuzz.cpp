// SPDX-License-Identifier: Apache-2.0
// Text up to the first zero byte as model.json, the rest as the content of each weight file: an
// Input error, or weights that fit their shapes, from files that stay in their folder.
#include <algorithm>
#include <filesystem>
#include <span>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/graphs/tfjs.h"

using namespace ubique;
using fuzz::require;

void fuzz::test_input(std::span<const std::byte> input) {
  const auto zero = std::find(input.begin(), input.end(), std::byte{0});
  const auto length = static_cast<std::size_t>(zero - input.begin());
  const auto text = fuzz::text_of(input.first(length));
  const std::vector<std::byte> weights(zero == input.end() ? zero : zero + 1, input.end());
  const auto model = io::parse_tfjs(text, "fuzz", [&](const std::string& file) {
    const std::filesystem::path path(file);
    require(path.is_relative() && path.filename() == path && file != "..");
    return weights;
  });
  require(!model.layers.empty());
  for (const auto& weight : model.weights) {
    const auto expected = io::byte_count(weight.dtype, weight.shape);
    require(expected && weight.bytes.size() == static_cast<std::uint64_t>(*expected));
    require(model.find(weight.name) == &weight);
  }
}
