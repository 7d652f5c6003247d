// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry point, for the one source file of a fuzz target: calls test_input() with each
// input, and allows it Input errors only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "ubique/base/error.h"

namespace ubique::fuzz {

/// Defined by the target.
void test_input(std::span<const std::byte> input);

inline void require(bool condition) {
  if (!condition) std::abort();
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace ubique::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    ubique::fuzz::test_input(std::as_bytes(std::span(data, size)));
  } catch (const ubique::Error& error) {
    ubique::fuzz::require(error.kind() == ubique::ErrorKind::Input);
  }
  return 0;
}
