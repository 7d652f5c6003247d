// SPDX-License-Identifier: Apache-2.0
// Any text as tokenizer.json: an Input error, or a tokenizer that encodes and decodes that text
// without failing.
#include <algorithm>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/io/text/tokenizer_bytes.h"

using namespace ubique;
using fuzz::require;

namespace {

/// Whether the token is that of a single byte or of unknown characters, which plain text cannot do
/// without.
bool is_basic(const io::Tokenizer& tokenizer, std::int32_t id) {
  for (int byte = 0; byte < 256; ++byte) {
    if (tokenizer.find(io::visible_bytes(std::string(1, static_cast<char>(byte)))) == id ||
        tokenizer.find(fmt::format("<0x{:02X}>", byte)) == id) {
      return true;
    }
  }
  return tokenizer.find(tokenizer.model().unknown) == id;
}

void examine(const io::Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text, io::SpecialTokens::Parse);
  (void)tokenizer.decode(ids);
  std::vector<std::size_t> ends;
  require(tokenizer.encode(text, {.special = io::SpecialTokens::Parse}, &ends) == ids);
  require(ends.size() == ids.size() && std::is_sorted(ends.begin(), ends.end()));
  require(ends.empty() || ends.back() <= text.size());
  for (const auto id : tokenizer.encode(text)) {
    require(!tokenizer.is_special(id) || is_basic(tokenizer, id));
  }
  std::string bytes;
  for (const auto id : ids) bytes += tokenizer.bytes(id);
  // Encoding only adds or drops whitespace, and bytes that have no token; normalising may do more.
  const bool may_differ = tokenizer.lacks_bytes() || !tokenizer.model().normal.empty();
  require(may_differ || bytes.size() + 1 >= tokenizer.encode(text).size());
}

}  // namespace

void fuzz::test_input(std::span<const std::byte> input) {
  const auto text = fuzz::text_of(input);
  examine(io::parse_tokenizer_json(text, "fuzz"), text);
}
