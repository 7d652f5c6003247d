// SPDX-License-Identifier: Apache-2.0
// Lyrics as token ids of ACE-Step's lyric encoder: [START], then for each line its language, its
// text and [SPACE]. Structure tags such as [verse] are tokens of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/data/lyrics/language.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::data {

struct LyricOptions {
  std::string language = {};      ///< a code such as "en"; empty: guessed for each line
  std::int64_t most_ids = 4'096;  ///< the encoder's attention grows with the square of them
};

/// A line as it was understood.
struct LyricLine {
  std::string text;                         ///< as it is spoken; empty for an empty line
  const LyricLanguage* language = nullptr;  ///< nullptr for an empty line
  std::vector<std::int32_t> ids = {};       ///< with the [SPACE] that ends the line
};

class LyricTokenizer {
 public:
  /// The vocabulary that comes with ACE-Step, a tokenizer.json. Input error for another one.
  explicit LyricTokenizer(const std::filesystem::path& vocabulary);

  /// Usage error for an unknown language. Input error, with the line's number, for a script that
  /// has to be romanised, numbers in a language that we cannot speak, and too long texts.
  std::vector<std::int32_t> encode(std::string_view lyrics, const LyricOptions& options = {}) const;
  std::vector<LyricLine> encode_lines(std::string_view lyrics, const LyricOptions& options) const;

  /// One line without the tokens around it, read as `language`.
  std::vector<std::int32_t> encode_line(std::string_view line, const LyricLanguage& language) const;
  /// The text that encode_line() cuts into tokens.
  static std::string clean_line(std::string_view line, const LyricLanguage& language);

  /// For ids from elsewhere: Input error for one that the vocabulary lacks.
  void check_ids(const std::vector<std::int32_t>& ids) const;
  const io::Tokenizer& vocabulary() const { return tokenizer_; }

 private:
  io::Tokenizer tokenizer_;
  std::int32_t start_ = 0, space_ = 0;
};

}  // namespace ubique::data
