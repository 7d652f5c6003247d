// SPDX-License-Identifier: Apache-2.0
// Encodes texts. Keeps the tokens of words from text to text, which makes it several times faster
// than Tokenizer::encode on short ones; one for each thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ubique/io/text/tokenizer.h"
#include "ubique/io/text/words/word_cache.h"

namespace ubique::io {

class TokenEncoder {
 public:
  /// The tokenizer must outlive this.
  explicit TokenEncoder(const Tokenizer& tokenizer)
      : tokenizer_(tokenizer), merger_(tokenizer.merges_) {}

  /// The same ids as Tokenizer::encode.
  std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options = {},
                                   std::vector<std::size_t>* ends = nullptr);

 private:
  /// A part of the text between added tokens, and the offset in the text of each of its bytes.
  struct Piece {
    std::string_view text;
    std::size_t begin = 0;  // offset of the first byte
    // Of each byte and the end, from `begin`; nullptr: consecutive.
    const std::vector<std::size_t>* origins = nullptr;
    std::size_t origin(std::size_t at) const;
  };
  struct Job;

  void encode_raw(Job& job, std::string_view text);
  void encode_normal(Job& job, const Piece& piece);
  void encode_words(Job& job, const Piece& piece);
  void encode_word(std::string_view word, std::vector<std::int32_t>& out);
  void add_character_symbols(std::string_view word);
  void add_likeliest(std::string_view word, std::vector<std::int32_t>& out);
  bool add_bytes(std::string_view bytes, std::vector<std::int32_t>& out) const;
  void align(Job& job, const Piece& piece, std::size_t first_id) const;
  template <typename Between, typename Matched>
  void cut_added(const Job& job, const PatternFinder& finder, const Piece& piece,
                 const Between& between, const Matched& matched) const;

  const Tokenizer& tokenizer_;
  Merger merger_;
  WordCache cache_;
  std::vector<std::int32_t> symbols_;
  std::vector<Unigram::Part> parts_;
};

}  // namespace ubique::io
