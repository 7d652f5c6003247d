// SPDX-License-Identifier: Apache-2.0
// Encodes much text fast: the tokens of words that were met before are remembered. Gives the same
// ids as Tokenizer::encode for plain text.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ubique/io/text/tokenizer.h"
#include "ubique/io/text/tokenizer_encode.h"

namespace ubique::data {

/// Not thread-safe: one per thread. The tokenizer must outlive it.
class TextEncoder {
 public:
  explicit TextEncoder(const io::Tokenizer& tokenizer);

  const io::Tokenizer& tokenizer() const { return *tokenizer_; }
  /// Whether each word of the split gets the same tokens alone as inside a text.
  bool by_words() const { return by_words_; }
  /// Appends the tokens; special tokens in the text are plain characters.
  void encode(std::string_view text, std::vector<std::int32_t>& out);
  std::vector<std::int32_t> encode(std::string_view text);

 private:
  static constexpr std::size_t kLongestWord = 32, kMostTokens = 7;
  /// The bytes of a word: two words of one length have the same ones only if they are the same.
  using Bytes = std::array<std::uint64_t, kLongestWord / 8>;
  /// A remembered word; a newer one with the same slot takes its place, so memory is bounded.
  struct Slot {
    Bytes bytes{};
    std::array<std::int32_t, kMostTokens> ids{};
    std::uint8_t length = 0, count = 0;
  };

  void encode_word(std::string_view word, std::vector<std::int32_t>& out);

  const io::Tokenizer* tokenizer_;
  io::TokenEncoder encoder_;
  bool by_words_;
  std::vector<Slot> slots_;
};

}  // namespace ubique::data
