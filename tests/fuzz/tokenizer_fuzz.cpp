// SPDX-License-Identifier: Apache-2.0
// Any text as tokenizer.json: an Input error, or a tokenizer whose own file reads as it was and
// whose tokens of the text decode without fail.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ubique/base/error.h"
#include "ubique/io/text/tokenizer.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void examine(const io::Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text, io::Markers::Tokens);
  (void)tokenizer.decode(ids);
  for (const auto id : tokenizer.encode(text)) require(!tokenizer.is_special(id));
  std::string bytes;
  for (const auto id : ids) bytes += tokenizer.bytes(id);
  // Only blanks may come or go, and bytes that have no token.
  require(tokenizer.lacks_bytes() || bytes.size() + 1 >= tokenizer.encode(text).size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto tokenizer = io::parse_tokenizer_json(text, "fuzz");
    examine(tokenizer, text);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}
