// SPDX-License-Identifier: Apache-2.0
// Any text as tokenizer.json: an Input error, or a tokenizer that encodes and decodes that text
// without failing.
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/io/text/tokenizer_bytes.h"

using namespace ubique;
using fuzz::require;

namespace {

/// Whether the token is that of a single byte, which plain text cannot do without.
bool is_byte(const io::Tokenizer& tokenizer, std::int32_t id) {
  for (int byte = 0; byte < 256; ++byte) {
    if (tokenizer.find(io::visible_bytes(std::string(1, static_cast<char>(byte)))) == id) {
      return true;
    }
  }
  return false;
}

void examine(const io::Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text, io::SpecialTokens::Parse);
  (void)tokenizer.decode(ids);
  for (const auto id : tokenizer.encode(text)) {
    require(!tokenizer.is_special(id) || is_byte(tokenizer, id));
  }
  std::string bytes;
  for (const auto id : ids) bytes += tokenizer.bytes(id);
  // Encoding only adds or drops whitespace, and bytes that have no token.
  require(tokenizer.lacks_bytes() || bytes.size() + 1 >= tokenizer.encode(text).size());
}

}  // namespace

void fuzz::test_input(std::span<const std::byte> input) {
  const auto text = fuzz::text_of(input);
  examine(io::parse_tokenizer_json(text, "fuzz"), text);
}
