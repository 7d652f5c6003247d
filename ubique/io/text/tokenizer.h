// SPDX-License-Identifier: Apache-2.0
// Text to numbers and back: byte-level BPE as GPT-2 and StarCoder use it. Reads tokenizer.json and
// GPT-2's vocab.json with merges.txt; writes tokenizer.json that other libraries open.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ubique/io/text/tokenizer_merge.h"
#include "ubique/io/text/tokenizer_split.h"

namespace ubique::io {

/// A token that is cut out of a text before anything merges.
struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  bool special = true;       ///< a marker such as <|endoftext|>: never made from plain text
  bool strip_left = false;   ///< takes the blanks before it too
  bool strip_right = false;  ///< takes the blanks after it too
  bool normalized = false;   ///< kept for the file; nothing is normalised here
};

/// What a tokenizer file says. Tokens are spelled as in tokenizer_bytes.h.
struct TokenizerModel {
  std::vector<std::pair<std::string, std::int32_t>> vocabulary = {};
  std::vector<std::pair<std::string, std::string>> merges = {};  ///< the first goes first
  std::vector<AddedToken> added = {};
  WordSplit split = {SplitStep::Words};
  bool whole_words_first = false;  ///< a word of the vocabulary is taken without merging
};

/// What to do with the spelling of a special token inside a text.
enum class Markers {
  Text,    ///< plain characters: what a person typed cannot end a turn
  Tokens,  ///< the token
};

class Tokenizer {
 public:
  /// Input error, which names `where`, for ids given twice or far apart and for merges of tokens
  /// that are not in the vocabulary.
  explicit Tokenizer(TokenizerModel model, const std::string& where = "the tokenizer");

  /// Bytes that the vocabulary lacks are left out, as other libraries do; see lacks_bytes().
  std::vector<std::int32_t> encode(std::string_view text, Markers markers = Markers::Text) const;
  /// UTF-8, with U+FFFD for what is none. Input error for an id that is no token.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = false) const;

  /// The bytes of one token, perhaps part of a character only. Input error for a wrong id.
  const std::string& bytes(std::int32_t id) const;
  /// The token as its file spells it. Input error for a wrong id.
  const std::string& spelling(std::int32_t id) const;
  /// By its spelling: "<|user|>", "Ġthe".
  std::optional<std::int32_t> find(std::string_view spelling) const;
  bool is_special(std::int32_t id) const;

  std::int64_t size() const {
    return static_cast<std::int64_t>(tokens_.size());
  }  ///< largest id + 1
  bool lacks_bytes() const { return lacks_bytes_; }
  const TokenizerModel& model() const { return model_; }

 private:
  struct Token {
    std::string spelling, bytes;
    bool exists = false, special = false;
  };

  void add_token(std::int32_t id, const std::string& spelling, std::string bytes,
                 const std::string& where);
  void add_merges(const std::string& where);
  void add_added(const std::string& where);
  const Token& token(std::int32_t id) const;
  const AddedToken* added_at(std::string_view text, std::size_t at, Markers markers) const;
  void encode_plain(std::string_view text, Merger& merger, std::vector<std::int32_t>& out) const;

  TokenizerModel model_;
  std::vector<Token> tokens_;                                // by id
  std::unordered_map<std::string, std::int32_t> ids_;        // by spelling
  std::unordered_map<std::string, std::int32_t> words_;      // by bytes, if whole words go first
  std::array<std::int32_t, 256> byte_ids_{};                 // -1: no token
  std::array<std::vector<std::size_t>, 256> added_by_byte_;  // longest first
  MergeTable merges_;
  bool lacks_bytes_ = false;
};

/// Appends those that are not there yet, as special tokens with the next free ids.
void add_special_tokens(TokenizerModel& model, const std::vector<std::string>& contents);

/// tokenizer.json, or a folder with tokenizer.json or with vocab.json and merges.txt. Input error
/// that says what was looked for, or which part of the file is not byte-level BPE.
Tokenizer read_tokenizer(const std::filesystem::path& path);
Tokenizer parse_tokenizer_json(std::string_view text, const std::string& where);
/// GPT-2's pair of files; <|endoftext|> is special. `added` is added_tokens.json, empty if none.
Tokenizer parse_gpt2_tokenizer(std::string_view vocabulary, std::string_view merges,
                               std::string_view added, const std::string& where);

/// Ends with a newline.
std::string tokenizer_json(const TokenizerModel& model);
void write_tokenizer(const std::filesystem::path& path, const TokenizerModel& model);  ///< atomic

}  // namespace ubique::io
