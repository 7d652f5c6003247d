// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .mat file: an Input error, or values whose numbers fill their shapes.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ubique/base/error.h"
#include "ubique/io/arrays/mat.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const auto& variable : io::parse_mat(std::as_bytes(std::span(data, size)), "fuzz")) {
      examine(variable.value);
    }
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}
