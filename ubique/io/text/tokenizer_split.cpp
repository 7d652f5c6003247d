// SPDX-License-Identifier: Apache-2.0
// The split steps over code points.
#include "ubique/io/text/tokenizer_split.h"

#include <algorithm>
#include <span>
#include <utility>

#include "ubique/base/text/utf8.h"
#include "ubique/io/text/unicode/unicode.h"
#include "ubique/io/text/words/normalizer.h"

namespace ubique::io {
namespace {

using Word = std::function<void(std::string_view)>;

struct Character {
  CharacterClass kind;
  std::size_t length;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80U) return {character_class(byte), 1};
  const auto point = code_point_at(text, at);
  return {point.valid ? character_class(point.value) : CharacterClass::Other, point.length};
}

/// End of the run of characters of one kind that begins at `at`.
std::size_t run_end(std::string_view text, std::size_t at, CharacterClass kind) {
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80U && character_class(byte) == kind) {
      ++at;
      continue;
    }
    const auto next = character_at(text, at);
    if (next.kind != kind) break;
    at += next.length;
  }
  return at;
}

/// Length of an English contraction ('s 't 'm 'd 're 've 'll) at an apostrophe; 0 if there is none.
std::size_t contraction(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

/// End of a run of whitespace; its last character is left to a following word.
std::size_t space_end(std::string_view text, std::size_t at) {
  auto last = at;
  auto end = at;
  while (end < text.size()) {
    const auto next = character_at(text, end);
    if (next.kind != CharacterClass::Space) return last > at ? last : end;
    last = end;
    end += next.length;
  }
  return end;
}

std::size_t word_end(std::string_view text, std::size_t at) {
  if (text[at] == '\'') {
    if (const auto length = contraction(text.substr(at))) return at + length;
  }
  const auto start = text[at] == ' ' && at + 1 < text.size() ? at + 1 : at;
  const auto kind = character_at(text, start).kind;
  return kind == CharacterClass::Space ? space_end(text, at) : run_end(text, start, kind);
}

/// The same contractions in upper case too, and 'ſ, which Unicode folds to an s.
std::size_t any_case_contraction(std::string_view text) {
  std::string folded;
  for (const char letter : text.substr(0, 3)) {
    folded += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter;
  }
  return folded == "'\u017f" ? folded.size() : contraction(folded);
}

bool is_line_end(char letter) { return letter == '\r' || letter == '\n'; }

/// \s*[\r\n]+, else \s+(?!\S), else \s+: up to the last line end of the run if it has one.
std::size_t space_end_after_lines(std::string_view text, std::size_t at) {
  std::size_t lines = 0;
  for (auto end = at; end < text.size();) {
    const auto next = character_at(text, end);
    if (next.kind != CharacterClass::Space) break;
    end += next.length;
    if (is_line_end(text[end - 1])) lines = end;
  }
  return lines > 0 ? lines : space_end(text, at);
}

/// The pattern of Llama 3 and Qwen 2, which differ in how many numbers stay together.
std::size_t modern_word_end(std::string_view text, std::size_t at, int most_numbers) {
  if (text[at] == '\'') {
    if (const auto length = any_case_contraction(text.substr(at))) return at + length;
  }
  const auto first = character_at(text, at);
  const auto after = at + first.length;
  if (first.kind == CharacterClass::Letter) return run_end(text, after, CharacterClass::Letter);
  if (first.kind == CharacterClass::Number) {
    auto end = after;
    for (int i = 1; i < most_numbers && end < text.size(); ++i) {
      const auto next = character_at(text, end);
      if (next.kind != CharacterClass::Number) break;
      end += next.length;
    }
    return end;
  }
  const auto second = after < text.size() ? character_at(text, after) : Character{first.kind, 0};
  const bool leads = second.length > 0 && !is_line_end(text[at]);
  if (leads && second.kind == CharacterClass::Letter) {
    return run_end(text, after, CharacterClass::Letter);
  }
  const bool space = text[at] == ' ' && second.length > 0 && second.kind == CharacterClass::Other;
  if (first.kind == CharacterClass::Other || space) {
    auto end = run_end(text, space ? after : at, CharacterClass::Other);
    while (end < text.size() && is_line_end(text[end])) ++end;
    return end;
  }
  return space_end_after_lines(text, at);
}

void cut_words(std::string_view text, SplitStep step, const Word& word) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = step == SplitStep::Words
                         ? word_end(text, at)
                         : modern_word_end(text, at, step == SplitStep::Llama3Words ? 3 : 1);
    word(text.substr(at, end - at));
    at = end;
  }
}

void cut_at_marks(std::string_view text, const Word& word) {
  while (!text.empty()) {
    const auto end =
        std::min(text.find(kSpaceMark, text.starts_with(kSpaceMark) ? 1 : 0), text.size());
    word(text.substr(0, end));
    text.remove_prefix(end);
  }
}

/// Runs of characters of one kind; whitespace is left out. `words` tells the characters of words
/// from the others, else there is one kind.
void cut_runs(std::string_view text, bool words, const Word& word) {
  enum class Kind { Space, Word, Other };
  const auto kind_at = [&](std::size_t at, std::size_t& length) {
    const auto point = code_point_at(text, at);
    length = point.length;
    if (point.valid && character_class(point.value) == CharacterClass::Space) return Kind::Space;
    return words && point.valid && is_word_character(point.value) ? Kind::Word : Kind::Other;
  };
  for (std::size_t at = 0, length = 0; at < text.size();) {
    const auto kind = kind_at(at, length);
    auto end = at + length;
    while (end < text.size() && kind_at(end, length) == kind) end += length;
    if (kind != Kind::Space) word(text.substr(at, end - at));
    at = end;
  }
}

void cut_numbers(std::string_view text, bool each, const Word& word) {
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto next = character_at(text, at);
    const auto end = next.kind != CharacterClass::Number ? at + next.length
                     : each                              ? at + next.length
                                                         : run_end(text, at, next.kind);
    if (next.kind == CharacterClass::Number) {
      if (at > start) word(text.substr(start, at - start));
      word(text.substr(at, end - at));
      start = end;
    }
    at = end;
  }
  if (start < text.size()) word(text.substr(start));
}

/// Marks instead of spaces, and one before the text if it has none there.
std::string marked_text(std::string_view text, bool prepend) {
  auto marked = with_space_marks(text);
  if (prepend && !marked.starts_with(kSpaceMark)) marked.insert(0, kSpaceMark);
  return marked;
}

void split_from(std::string_view text, std::span<const SplitStep> steps, const Word& word,
                bool first) {
  if (steps.empty()) return word(text);
  bool begins = first;
  const auto split_rest = [&](std::string_view piece) {
    split_from(piece, steps.subspan(1), word, std::exchange(begins, false));
  };
  const Word rest = std::ref(split_rest);  // a reference needs no memory
  const auto step = steps.front();
  switch (step) {
    case SplitStep::EachNumber:
    case SplitStep::NumberRuns:
      return cut_numbers(text, step == SplitStep::EachNumber, rest);
    case SplitStep::PrefixSpace:
      return text.starts_with(' ') ? rest(text) : rest(" " + std::string(text));
    case SplitStep::Words:
    case SplitStep::Llama3Words:
    case SplitStep::Qwen2Words:
      // Usually the last step: saves one call per word.
      return steps.size() == 1 ? cut_words(text, step, word) : cut_words(text, step, rest);
    case SplitStep::SpaceMarks:
      return rest(marked_text(text, false));
    case SplitStep::MarkFirst:
      return rest(marked_text(text, first));
    case SplitStep::MarkEach:
      return rest(marked_text(text, true));
    case SplitStep::CutAtMarks:
      return cut_at_marks(text, rest);
    case SplitStep::CutAtSpace:
    case SplitStep::WordRuns:
      // A word after whitespace is not the beginning of the text, although the whitespace goes.
      begins = begins && character_at(text, 0).kind != CharacterClass::Space;
      return cut_runs(text, step == SplitStep::WordRuns, rest);
  }
}

}  // namespace

const std::string_view kWordPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

const std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

const std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

void split_words(std::string_view text, const WordSplit& steps, const Word& word, bool first) {
  if (!text.empty()) split_from(text, steps, word, first);
}

}  // namespace ubique::io
