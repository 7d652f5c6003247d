// SPDX-License-Identifier: Apache-2.0
// Encodes much text fast: the tokens of words that were met before are remembered. Gives the same
// ids as Tokenizer::encode for plain text.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ubique/io/text/tokenizer.h"

namespace ubique::data {

/// Not thread-safe: one per thread. The tokenizer must outlive it.
class TextEncoder {
 public:
  explicit TextEncoder(const io::Tokenizer& tokenizer);

  const io::Tokenizer& tokenizer() const { return *tokenizer_; }
  /// Appends the tokens; special tokens in the text are plain characters.
  void encode(std::string_view text, std::vector<std::int32_t>& out);
  std::vector<std::int32_t> encode(std::string_view text);

 private:
  static constexpr std::size_t kLongestWord = 30, kMostTokens = 8;
  /// A remembered word; a newer one with the same slot takes its place, so memory is bounded.
  struct Slot {
    std::uint8_t length = 0, count = 0;
    std::array<char, kLongestWord> word{};
    std::array<std::int32_t, kMostTokens> ids{};
  };

  void encode_word(std::string_view word, std::vector<std::int32_t>& out);

  const io::Tokenizer* tokenizer_;
  bool cached_;  // words are encoded independently of their neighbours
  std::vector<Slot> slots_;
};

}  // namespace ubique::data
