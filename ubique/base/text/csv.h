// SPDX-License-Identifier: Apache-2.0
// CSV: quoting a field for writing, parsing a whole text. Columns and their types are the caller's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ubique {

/// In quotes where it holds a comma, a quote or a line end.
std::string csv_field(std::string_view text);

struct CsvLine {
  int number = 0;  ///< in the text, from 1
  std::vector<std::string> fields;
};

/// Quoted fields are kept as they are ("" is a quote), others trimmed; blank lines are skipped.
/// Input error for an unclosed quote; `where` is the file's name in messages.
std::vector<CsvLine> parse_csv(std::string_view text, const std::string& where);

}  // namespace ubique
