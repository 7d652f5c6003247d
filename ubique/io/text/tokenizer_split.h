// SPDX-License-Identifier: Apache-2.0
// A text cut into words, inside which byte pairs may merge: GPT-2's pattern and the steps that code
// models put before it. Written by hand over code points; no regular expressions are compiled.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io {

/// One step; each later one cuts the pieces of the one before.
enum class SplitStep {
  EachNumber,   ///< every numeric character alone
  NumberRuns,   ///< numbers apart from the rest
  PrefixSpace,  ///< a blank before each piece that has none
  Words,        ///< GPT-2's pattern: contractions, letters, numbers, signs, blanks
};

using WordSplit = std::vector<SplitStep>;

/// GPT-2's pattern as files spell it.
extern const std::string_view kWordPattern;

/// Calls `word` for each piece in order. Bytes that are no UTF-8 count as signs.
void split_words(std::string_view text, const WordSplit& steps,
                 const std::function<void(std::string_view)>& word);

}  // namespace ubique::io
