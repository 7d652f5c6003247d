// SPDX-License-Identifier: Apache-2.0
// Lines are cleaned by their language and cut by BPE.
#include "ubique/data/lyrics/lyric_tokenizer.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/lyrics/front_end.h"
#include "ubique/data/lyrics/line_text.h"

namespace ubique::data {
namespace {

constexpr std::size_t kLongestLine = 10'000;  // bytes

std::string known_codes() {
  std::string codes;
  for (const auto& language : lyric_languages()) {
    codes += (codes.empty() ? "" : ", ") + std::string(language.code);
  }
  return codes;
}

const LyricLanguage& chosen_language(const std::string& code) {
  const auto* found = find_lyric_language(code);
  check(found != nullptr, ErrorKind::Usage,
        "[data.lyrics] the language of the lyrics is unknown; got '{}', expected one of {}.",
        printable(code, 40), known_codes());
  return *found;
}

/// Whether the line begins with a tag: [verse], [Verse 1: soft].
bool begins_with_tag(std::string_view line) {
  return line.starts_with('[') && line.find(']') != std::string_view::npos;
}

std::string with_space_tokens(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == ' ') {
      out += "[SPACE]";
    } else {
      out += letter;
    }
  }
  return out;
}

/// The message for an error in a line says which line it is.
template <typename Work>
auto in_line(std::size_t number, std::string_view line, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} (line {}: '{}')", error.what(), number,
                                          printable(std::string(line), 60)));
  }
}

}  // namespace

LyricTokenizer::LyricTokenizer(const std::filesystem::path& vocabulary)
    : tokenizer_(io::read_tokenizer(vocabulary)) {
  const auto id_of = [&](std::string_view token) {
    const auto found = tokenizer_.find(token);
    check(found.has_value(), ErrorKind::Input,
          "[data.lyrics] {} is not the vocabulary of lyrics; it lacks {}.", vocabulary.string(),
          token);
    return *found;
  };
  start_ = id_of("[START]");
  space_ = id_of("[SPACE]");
  for (const auto& language : lyric_languages()) (void)id_of(language.tag);
}

std::string LyricTokenizer::clean_line(std::string_view line, const LyricLanguage& language) {
  const auto script = foreign_script(line);
  check(!script || language.text == LyricText::Speakable, ErrorKind::Input,
        "[data.lyrics] {} lyrics must be romanised (Chinese as pinyin with tone digits such as "
        "ni3 hao3, Japanese as romaji, Korean in Latin letters), or given as token ids.",
        script.value_or(""));
  if (language.text == LyricText::Speakable) return speakable(line, language.spoken);
  const bool tones = language.code == "zh";  // digits are tones there
  check(tones || !has_numbers_or_symbols(line), ErrorKind::Input,
        "[data.lyrics] numbers and symbols cannot be spoken in {}; write them as words.",
        language.name);
  return plain_line(line);
}

std::vector<std::int32_t> LyricTokenizer::encode_line(std::string_view line,
                                                      const LyricLanguage& language) const {
  const auto text = std::string(language.tag) + with_space_tokens(clean_line(line, language));
  return tokenizer_.encode(text, io::SpecialTokens::Parse);
}

std::vector<LyricLine> LyricTokenizer::encode_lines(std::string_view lyrics,
                                                    const LyricOptions& options) const {
  const auto* given = options.language.empty() ? nullptr : &chosen_language(options.language);
  const auto& song = given != nullptr ? *given : guess_language(lyrics);
  std::vector<LyricLine> lines;
  std::int64_t total = 1;
  for (std::size_t at = 0; at <= lyrics.size();) {
    const auto end = std::min(lyrics.find('\n', at), lyrics.size());
    const auto line = stripped_line(lyrics.substr(at, end - at));
    at = end + 1;
    LyricLine& made = lines.emplace_back();
    if (!line.empty()) {
      const auto* guess = given != nullptr ? given : guess_line_language(line);
      made.language = begins_with_tag(line) ? find_lyric_language("en")
                      : guess != nullptr    ? guess
                                            : &song;
      in_line(lines.size(), line, [&] {
        check(line.size() <= kLongestLine, ErrorKind::Input,
              "[data.lyrics] a line is too long; got {} bytes, expected at most {}.", line.size(),
              kLongestLine);
        made.text = clean_line(line, *made.language);
        made.ids = encode_line(line, *made.language);
      });
    }
    made.ids.push_back(space_);
    total += static_cast<std::int64_t>(made.ids.size());
    check(total <= options.most_ids, ErrorKind::Input,
          "[data.lyrics] the lyrics are too long; got more than {} tokens at line {}, expected at "
          "most that. Shorten them.",
          options.most_ids, lines.size());
  }
  return lines;
}

std::vector<std::int32_t> LyricTokenizer::encode(std::string_view lyrics,
                                                 const LyricOptions& options) const {
  std::vector<std::int32_t> ids = {start_};
  for (const auto& line : encode_lines(lyrics, options)) {
    ids.insert(ids.end(), line.ids.begin(), line.ids.end());
  }
  return ids;
}

void LyricTokenizer::check_ids(const std::vector<std::int32_t>& ids) const {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    check(ids[i] >= 0 && ids[i] < tokenizer_.size(), ErrorKind::Input,
          "[data.lyrics] token {} of the lyrics is not in the vocabulary; got {}, expected 0 to "
          "{}.",
          i, ids[i], tokenizer_.size() - 1);
  }
}

}  // namespace ubique::data
