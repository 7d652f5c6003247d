// SPDX-License-Identifier: Apache-2.0
// Small safetensors files built by hand, so that the tests of the reader do not depend on the
// writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ubique::test {

/// A file with any length field, header and data, valid or not.
inline std::string file_with_length(std::uint64_t length, std::string_view header,
                                    std::string_view data) {
  std::string file;
  for (unsigned i = 0; i < 8; ++i) file += static_cast<char>(length >> (8 * i) & 0xFFU);
  file += header;
  file += data;
  return file;
}

inline std::string file_of(std::string_view header, std::string_view data) {
  return file_with_length(header.size(), header, data);
}

/// One tensor entry without its name.
inline std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return R"({"dtype":")" + std::string(dtype) + R"(","shape":)" + std::string(shape) +
         R"(,"data_offsets":)" + std::string(offsets) + "}";
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Two tensors, metadata, a scalar and an empty tensor: the start of byte flips and cuts.
inline std::string small_file() {
  return file_of(R"({"__metadata__":{"format":"pt","note":"two words"},)"
                 R"("b":)" +
                     entry("F32", "[2,1]", "[0,8]") + R"(,"none":)" +
                     entry("I64", "[0,3]", "[8,8]") + R"(,"a":)" + entry("BF16", "[]", "[8,10]") +
                     "}  ",
                 "01234567ab");
}

}  // namespace ubique::test
