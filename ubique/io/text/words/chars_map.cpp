// SPDX-License-Identifier: Apache-2.0
// The table: size of the trie in bytes (4 bytes, little-endian), its units of 4 bytes, the texts.
#include "ubique/io/text/words/chars_map.h"

#include "ubique/base/error.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/text/unicode/graphemes.h"

namespace ubique::io {
namespace {

/// Longer clusters are looked up code point by code point, as the tokenizers library does it.
constexpr std::size_t kLongestCluster = 5;

std::uint32_t unit_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

// A unit of the double array: a label, whether a text ends here, and where its children are.
bool ends_here(std::uint32_t unit) { return (unit >> 8U & 1U) != 0; }
std::uint32_t label(std::uint32_t unit) { return unit & (1U << 31U | 0xFFU); }
std::size_t offset(std::uint32_t unit) {
  return std::size_t{unit >> 10U} << ((unit & 1U << 9U) >> 6U);
}
std::size_t value(std::uint32_t unit) { return unit & ((1U << 31U) - 1); }

}  // namespace

CharsMap::CharsMap(std::string bytes, const std::string& where) : bytes_(std::move(bytes)) {
  const std::size_t size = bytes_.size() >= 4 ? unit_at(bytes_, 0) : 0;
  check(bytes_.size() >= 4 && size % 4 == 0 && size >= 4 && size <= bytes_.size() - 4,
        ErrorKind::Input,
        "[io.tokenizer] {}: precompiled_charsmap is cut short; got {} bytes of which {} are the "
        "trie.",
        where, bytes_.size(), size);
  for (std::size_t at = 4; at < 4 + size; at += 4) trie_.push_back(unit_at(bytes_, at));
  texts_ = std::string_view(bytes_).substr(4 + size);
}

/// Of the shortest text in the table that `text` begins with: odd, but what every tokenizers file
/// was made with.
std::optional<std::string_view> CharsMap::replacement(std::string_view text) const {
  auto node = offset(trie_[0]);
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte == 0) return std::nullopt;
    node ^= byte;
    if (node >= trie_.size() || label(trie_[node]) != byte) return std::nullopt;
    const auto unit = trie_[node];
    node ^= offset(unit);
    if (!ends_here(unit)) continue;
    const auto begin = node < trie_.size() ? value(trie_[node]) : texts_.size();
    if (begin >= texts_.size()) return std::nullopt;
    return texts_.substr(begin, texts_.find('\0', begin) - begin);
  }
  return std::nullopt;
}

std::string CharsMap::apply(std::string_view text, std::vector<std::size_t>* origins) const {
  std::string out;
  const auto add = [&](std::string_view bytes, std::size_t origin) {
    out += bytes;
    if (origins != nullptr) origins->resize(out.size(), origin);
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto end = grapheme_end(text, at);
    const auto whole = text.substr(at, end - at);
    if (whole.size() <= kLongestCluster) {
      if (const auto found = replacement(whole)) {
        add(*found, at);
        at = end;
        continue;
      }
    }
    while (at < end) {
      const auto one = text.substr(at, code_point_at(text, at).length);
      add(replacement(one).value_or(one), at);
      at += one.size();
    }
  }
  return out;
}

}  // namespace ubique::io
