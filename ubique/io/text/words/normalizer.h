// SPDX-License-Identifier: Apache-2.0
// What tokenizers do to a text before they cut it into words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/io/text/words/chars_map.h"

namespace ubique::io {

/// The character that stands for a space in vocabularies of whole characters.
inline constexpr std::string_view kSpaceMark = "\u2581";

enum class NormalStep {
  Nfc,            ///< Unicode's normal form C
  PrependMark,    ///< a mark before a text that is not empty
  SpacesToMarks,  ///< each space becomes a mark
  Table,          ///< SentencePiece's table (chars_map.h)
  StripLeft,      ///< whitespace at the beginning goes
  StripRight,     ///< whitespace at the end goes
  MergeSpaces,    ///< two spaces or more become one
  RunsToMark,     ///< two spaces or more become one mark
};

using NormalSteps = std::vector<NormalStep>;

/// The text after all steps. With `origins`, the offset in `text` of each byte of the result.
/// `table` is what NormalStep::Table stands for.
std::string normalized(std::string_view text, const NormalSteps& steps, const CharsMap* table,
                       std::vector<std::size_t>* origins = nullptr);
/// Whether the steps surely leave the text as it is; then it need not be copied.
bool is_surely_normal(std::string_view text, const NormalSteps& steps);

/// Each space becomes a mark.
std::string with_space_marks(std::string_view text);

}  // namespace ubique::io
