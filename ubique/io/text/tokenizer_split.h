// SPDX-License-Identifier: Apache-2.0
// Pre-tokenization: splits a text into words, within which byte pairs merge. GPT-2's pattern and
// the steps that code models put before it, written by hand without regular expressions.
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
};

using WordSplit = std::vector<SplitStep>;

/// GPT-2's pattern as tokenizer.json contains it.
extern const std::string_view kWordPattern;

/// Calls `word` for each piece in order. Invalid UTF-8 counts as punctuation.
void split_words(std::string_view text, const WordSplit& steps,
                 const std::function<void(std::string_view)>& word);

}  // namespace ubique::io
