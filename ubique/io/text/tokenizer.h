// SPDX-License-Identifier: Apache-2.0
// Byte-level BPE tokenizer, as GPT-2 and StarCoder use it: text to token ids and back. Reads
// tokenizer.json and GPT-2's vocab.json with merges.txt; writes tokenizer.json.
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

/// A token that is matched in the text before it is split into words.
struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  /// Such as <|endoftext|>. Plain text becomes one only where it is the token of a single byte.
  bool special = true;
  bool strip_left = false;   ///< also consumes whitespace before it
  bool strip_right = false;  ///< also consumes whitespace after it
  bool normalized = false;   ///< only kept for the file; no normaliser is supported
};

/// The content of a tokenizer file. Tokens are spelled as in tokenizer_bytes.h.
struct TokenizerModel {
  std::vector<std::pair<std::string, std::int32_t>> vocabulary = {};
  std::vector<std::pair<std::string, std::string>> merges = {};  ///< in order of priority
  std::vector<AddedToken> added = {};
  WordSplit split = {SplitStep::Words};
  bool ignore_merges = false;  ///< a word in the vocabulary is one token
};

/// How the spelling of a special token inside a text is encoded.
enum class SpecialTokens {
  AsText,  ///< as plain characters: user input cannot end a turn
  Parse,   ///< as the special token
};

class Tokenizer {
 public:
  /// Input error for ids given twice, ids far beyond the number of tokens, and merges of unknown
  /// tokens. Error messages call the file `where`.
  explicit Tokenizer(TokenizerModel model, const std::string& where = "the tokenizer");

  /// Bytes that have no token are dropped, as in other libraries; see lacks_bytes().
  std::vector<std::int32_t> encode(std::string_view text,
                                   SpecialTokens special = SpecialTokens::AsText) const;
  /// UTF-8, with U+FFFD for invalid bytes. Input error for an unknown id.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = false) const;

  /// The bytes of one token, possibly only a part of a character. Input error for an unknown id.
  const std::string& bytes(std::int32_t id) const;
  /// The token as the file spells it. Input error for an unknown id.
  const std::string& spelling(std::int32_t id) const;
  /// The id of a token by its spelling: "<|user|>", "Ġthe".
  std::optional<std::int32_t> find(std::string_view spelling) const;
  bool is_special(std::int32_t id) const;

  /// Vocabulary size: largest id + 1.
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  /// Whether some of the 256 bytes have no token.
  bool lacks_bytes() const { return lacks_bytes_; }
  const TokenizerModel& model() const { return model_; }

 private:
  struct Token {
    std::string spelling, bytes;
    bool exists = false, special = false;
  };

  void add_token(std::int32_t id, const std::string& spelling, std::string bytes,
                 const std::string& where);
  void add_words();
  void add_merges(const std::string& where);
  void add_added(const std::string& where);
  const Token& token(std::int32_t id) const;
  const AddedToken* added_at(std::string_view text, std::size_t at, SpecialTokens special) const;
  void encode_plain(std::string_view text, Merger& merger, std::vector<std::int32_t>& out) const;

  TokenizerModel model_;
  std::vector<Token> tokens_;                                // by id
  std::unordered_map<std::string, std::int32_t> ids_;        // by spelling
  std::unordered_map<std::string, std::int32_t> words_;      // by bytes; only if ignore_merges
  std::array<std::int32_t, 256> byte_ids_{};                 // -1: no token
  std::array<std::vector<std::size_t>, 256> added_by_byte_;  // indices by first byte, longest first
  MergeTable merges_;
  bool lacks_bytes_ = false;
};

/// Adds the missing ones as special tokens with the next free ids.
void add_special_tokens(TokenizerModel& model, const std::vector<std::string>& contents);

/// `path` is a tokenizer.json, or a folder with tokenizer.json or with vocab.json and merges.txt.
/// Input error that says which files were expected, or which part is not byte-level BPE.
Tokenizer read_tokenizer(const std::filesystem::path& path);
Tokenizer parse_tokenizer_json(std::string_view text, const std::string& where);
/// GPT-2's pair of files; <|endoftext|> is special. `added` is added_tokens.json, empty if none.
Tokenizer parse_gpt2_tokenizer(std::string_view vocabulary, std::string_view merges,
                               std::string_view added, const std::string& where);

/// The text of tokenizer.json.
std::string tokenizer_json(const TokenizerModel& model);
void write_tokenizer(const std::filesystem::path& path, const TokenizerModel& model);  ///< atomic

}  // namespace ubique::io
