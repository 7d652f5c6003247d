// SPDX-License-Identifier: Apache-2.0
// The split steps over code points.
#include "ubique/io/text/tokenizer_split.h"

#include <span>

#include "ubique/base/text/utf8.h"
#include "ubique/io/text/unicode/unicode.h"

namespace ubique::io {
namespace {

using Word = std::function<void(std::string_view)>;

struct Character {
  CharacterClass kind;
  std::size_t length;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto point = code_point_at(text, at);
  return {point.valid ? character_class(point.value) : CharacterClass::Other, point.length};
}

/// End of the run of characters of one kind that begins at `at`.
std::size_t run_end(std::string_view text, std::size_t at, CharacterClass kind) {
  while (at < text.size()) {
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

void cut_words(std::string_view text, const Word& word) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = word_end(text, at);
    word(text.substr(at, end - at));
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

void split_from(std::string_view text, std::span<const SplitStep> steps, const Word& word) {
  if (steps.empty()) return word(text);
  const auto rest = [&](std::string_view piece) { split_from(piece, steps.subspan(1), word); };
  switch (steps.front()) {
    case SplitStep::EachNumber:
    case SplitStep::NumberRuns:
      return cut_numbers(text, steps.front() == SplitStep::EachNumber, rest);
    case SplitStep::PrefixSpace:
      return text.starts_with(' ') ? rest(text) : rest(" " + std::string(text));
    case SplitStep::Words:
      // Usually the last step: saves one call per word.
      return steps.size() == 1 ? cut_words(text, word) : cut_words(text, rest);
  }
}

}  // namespace

const std::string_view kWordPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

void split_words(std::string_view text, const WordSplit& steps, const Word& word) {
  if (!text.empty()) split_from(text, steps, word);
}

}  // namespace ubique::io
