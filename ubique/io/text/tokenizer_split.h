// SPDX-License-Identifier: Apache-2.0
// Pre-tokenization: splits a text into words, within which byte pairs merge. The patterns of GPT-2,
// Llama 3 and Qwen 2 and the steps that models put around them, written by hand without regular
// expressions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io {

/// One step; each splits the pieces of the step before.
enum class SplitStep {
  EachNumber,   ///< each numeric character becomes a piece
  NumberRuns,   ///< runs of numeric characters become pieces
  PrefixSpace,  ///< a space is put before each piece that has none
  Words,        ///< GPT-2's pattern: contractions, letters, numbers, punctuation, whitespace
  Llama3Words,  ///< Llama 3's and GPT-4's: as above, numbers in threes, line ends apart
  Qwen2Words,   ///< Qwen 2's: the same with each number by itself
  SpaceMarks,   ///< spaces become marks (normalizer.h)
  MarkFirst,    ///< the same, and a mark is put before the first piece of a text
  MarkEach,     ///< the same, and a mark is put before each piece
  CutAtMarks,   ///< pieces begin at each mark
  CutAtSpace,   ///< pieces between whitespace, which goes
  WordRuns,     ///< runs of word characters and of others (\w+|[^\w\s]+); whitespace goes
};

using WordSplit = std::vector<SplitStep>;

/// The patterns as tokenizer.json contains them.
extern const std::string_view kWordPattern, kLlama3Pattern, kQwen2Pattern;

/// Calls `word` for each piece in order. Invalid UTF-8 counts as punctuation. `first` says that the
/// text is the beginning of what is encoded, not a piece after an added token.
void split_words(std::string_view text, const WordSplit& steps,
                 const std::function<void(std::string_view)>& word, bool first = true);

}  // namespace ubique::io
