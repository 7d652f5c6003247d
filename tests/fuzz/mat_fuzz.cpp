// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .mat file: an Input error, or values with as many numbers as their shapes say.
#include <span>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/arrays/mat.h"

using namespace ubique;
using fuzz::require;

namespace {

void examine(const io::MatValue& value) {
  if (value.kind == io::MatValue::Kind::Numbers && !value.numbers.empty()) {
    require(static_cast<std::size_t>(*io::element_count(value.shape)) == value.numbers.size());
  }
  for (const auto& cell : value.cells) examine(cell);
  for (const auto& field : value.fields) {
    for (const auto& child : field.values) examine(child);
  }
}

}  // namespace

void fuzz::test_input(std::span<const std::byte> input) {
  for (const auto& variable : io::parse_mat(input, "fuzz")) {
    examine(variable.value);
  }
}
