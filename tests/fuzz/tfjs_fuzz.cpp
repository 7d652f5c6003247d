// SPDX-License-Identifier: Apache-2.0
// Any text as model.json, and what follows its first zero byte as each weight file: an Input error,
// or weights of the size that they state, from files that stay in their folder.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "ubique/base/error.h"
#include "ubique/io/graphs/tfjs.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto zero = std::find(bytes.begin(), bytes.end(), std::byte{0});
  const std::string_view text(reinterpret_cast<const char*>(data),
                              static_cast<std::size_t>(zero - bytes.begin()));
  const std::vector<std::byte> weights(zero == bytes.end() ? zero : zero + 1, bytes.end());
  try {
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
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}
