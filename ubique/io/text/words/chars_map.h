// SPDX-License-Identifier: Apache-2.0
// SentencePiece's normalisation table ("precompiled_charsmap"): a double-array trie of texts, and
// what each becomes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io {

class CharsMap {
 public:
  /// The bytes of the table. Input error for one that is cut short.
  CharsMap(std::string bytes, const std::string& where);
  CharsMap(const CharsMap&) = delete;
  CharsMap& operator=(const CharsMap&) = delete;

  /// Each visible character, or each code point of it, is replaced by what the table says. With
  /// `origins`, the offset in `text` of each byte of the result is stored there.
  std::string apply(std::string_view text, std::vector<std::size_t>* origins) const;
  const std::string& bytes() const { return bytes_; }

 private:
  std::optional<std::string_view> replacement(std::string_view text) const;

  std::string bytes_;
  std::vector<std::uint32_t> trie_;
  std::string_view texts_;  // replacements, each ended by a zero byte
};

}  // namespace ubique::io
