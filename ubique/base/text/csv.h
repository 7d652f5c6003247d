// SPDX-License-Identifier: Apache-2.0
// Comma-separated text: one field to write, a whole text to read. Knows nothing of columns.
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

/// Fields may be quoted ("" is a quote) and are trimmed where they are not; blank lines are left
/// out. Input error for a quote that never ends; `where` stands for the file in messages.
std::vector<CsvLine> parse_csv(std::string_view text, const std::string& where);

}  // namespace ubique
