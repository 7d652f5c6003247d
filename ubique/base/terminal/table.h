// SPDX-License-Identifier: Apache-2.0
// A plain text table: columns sized to their content, cells of several lines allowed. It returns
// text; the caller prints and colours it.
#pragma once

#include <string>
#include <vector>

namespace ubique {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}

  /// Cells may hold newlines; missing cells are blank.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Wraps a column's cells at this width.
  void limit_width(std::size_t column, std::size_t width);
  bool empty() const { return rows_.empty(); }

  /// Header, a rule, the rows; every line ends with a newline and has no trailing blanks.
  std::string to_text() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> limits_;
};

}  // namespace ubique
