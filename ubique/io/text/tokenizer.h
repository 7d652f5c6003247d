// SPDX-License-Identifier: Apache-2.0
// Tokenizer: text to token ids and back. BPE, byte-level as GPT-2, StarCoder, Llama 3 and Qwen use
// it, or over characters with bytes for the rest as Llama 2 does; Unigram as T5 uses it. Reads
// tokenizer.json and GPT-2's vocab.json with merges.txt; writes tokenizer.json.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ubique/io/text/tokenizer_merge.h"
#include "ubique/io/text/tokenizer_split.h"
#include "ubique/io/text/words/normalizer.h"
#include "ubique/io/text/words/pattern_finder.h"
#include "ubique/io/text/words/unigram.h"

namespace ubique::io {

/// A token that is matched in the text before it is split into words.
struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  /// Such as <|endoftext|>. Plain text becomes one only where it is the token of a single byte.
  bool special = true;
  bool strip_left = false;   ///< also consumes whitespace before it
  bool strip_right = false;  ///< also consumes whitespace after it
  bool normalized = false;   ///< matched in the normalised text, where the others are cut out
  bool single_word = false;  ///< matched only where no letter or digit stands beside it
};

/// What the tokens of a vocabulary are made of.
enum class TokenUnits {
  Bytes,       ///< bytes, spelled as in tokenizer_bytes.h
  Characters,  ///< characters, a mark for the space; <0x0A> for bytes of characters it lacks
};

/// The content of a tokenizer file.
struct TokenizerModel {
  std::vector<std::pair<std::string, std::int32_t>> vocabulary = {};
  std::vector<std::pair<std::string, std::string>> merges = {};  ///< in order of priority
  std::vector<AddedToken> added = {};
  WordSplit split = {SplitStep::Words};
  bool ignore_merges = false;  ///< a word in the vocabulary is one token
  NormalSteps normal = {};
  std::shared_ptr<const CharsMap> chars_map = {};  ///< of NormalStep::Table
  std::vector<double> scores = {};  ///< of each token in the vocabulary's order: a Unigram model
  TokenUnits units = TokenUnits::Bytes;
  std::string unknown = {};                        ///< with Characters: the token of what has none
  bool fuse_unknown = false;                       ///< a run of unknown characters is one token
  bool byte_fallback = true;                       ///< bytes for characters that have no token
  bool spaced_decoded = false;                     ///< decoding puts a space between tokens
  bool strip_decoded = false;                      ///< decoding drops one space at the beginning
  std::vector<std::int32_t> begin = {}, end = {};  ///< tokens that frame a text, such as <s>
};

/// How the spelling of a special token inside a text is encoded.
enum class SpecialTokens {
  AsText,  ///< as plain characters: user input cannot end a turn
  Parse,   ///< as the special token
};

/// Bytes [begin, end) of a text.
struct TextRange {
  std::size_t begin = 0, end = 0;
};

struct EncodeOptions {
  SpecialTokens special = SpecialTokens::AsText;
  bool frame = false;  ///< adds the tokens that the file puts around each text
  /// With Parse: ranges, in order, in which the spelling of a special token stays plain text.
  std::span<const TextRange> plain = {};
};

class Tokenizer {
 public:
  /// Input error for ids given twice, ids far beyond the number of tokens, and merges of unknown
  /// tokens. Error messages call the file `where`.
  explicit Tokenizer(TokenizerModel model, const std::string& where = "the tokenizer");

  /// Bytes that have no token are dropped, as in other libraries; see lacks_bytes().
  std::vector<std::int32_t> encode(std::string_view text,
                                   SpecialTokens special = SpecialTokens::AsText) const;
  /// With `ends`, the byte of the text after each token is stored there. TokenEncoder does the same
  /// for many texts faster.
  std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options,
                                   std::vector<std::size_t>* ends = nullptr) const;
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
  void add_scores(const std::string& where);
  void add_added(const std::string& where);
  const Token& token(std::int32_t id) const;
  void add_bytes();
  std::string bytes_of(const std::string& spelling) const;
  std::string decode_characters(std::span<const std::int32_t> ids, bool skip_special) const;

  friend class TokenEncoder;

  TokenizerModel model_;
  std::vector<Token> tokens_;                            // by id
  std::unordered_map<std::string, std::int32_t> ids_;    // by spelling
  std::unordered_map<std::string, std::int32_t> words_;  // by bytes; only if ignore_merges
  std::array<std::int32_t, 256> byte_ids_{};             // -1: no token
  PatternFinder raw_added_, normal_added_;               // of added tokens; the number is the index
  std::int32_t unknown_ = -1;
  MergeTable merges_;
  Unigram unigram_;
  bool lacks_bytes_ = false;
};

/// Adds the missing ones as special tokens with the next free ids.
void add_special_tokens(TokenizerModel& model, const std::vector<std::string>& contents);

/// `path` is a tokenizer.json, or a folder with tokenizer.json or with vocab.json and merges.txt.
/// Input error that says which files were expected, or which part is not understood.
Tokenizer read_tokenizer(const std::filesystem::path& path);
Tokenizer parse_tokenizer_json(std::string_view text, const std::string& where);
/// GPT-2's pair of files; <|endoftext|> is special. `added` is added_tokens.json, empty if none.
Tokenizer parse_gpt2_tokenizer(std::string_view vocabulary, std::string_view merges,
                               std::string_view added, const std::string& where);

/// The text of tokenizer.json.
std::string tokenizer_json(const TokenizerModel& model);
void write_tokenizer(const std::filesystem::path& path, const TokenizerModel& model);  ///< atomic

}  // namespace ubique::io
