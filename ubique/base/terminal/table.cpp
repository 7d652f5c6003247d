// SPDX-License-Identifier: Apache-2.0
// Layout of table cells: splitting, wrapping and padding.
#include "ubique/base/terminal/table.h"

#include <algorithm>

#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique {
namespace {

using Lines = std::vector<std::string>;

Lines cell_lines(const std::string& cell, std::size_t limit) {
  Lines lines;
  std::size_t start = 0;
  while (start <= cell.size()) {
    const auto end = std::min(cell.find('\n', start), cell.size());
    const auto line = printable_lines(std::string_view(cell).substr(start, end - start));
    if (limit > 0 && display_width(line) > limit) {
      for (auto& part : wrap(line, limit)) lines.push_back(std::move(part));
    } else {
      lines.push_back(line);
    }
    start = end + 1;
  }
  return lines;
}

void append_line(std::string& text, const std::vector<Lines>& cells, std::size_t index,
                 const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t column = 0; column < widths.size(); ++column) {
    const auto& lines = cells[column];
    const std::string part = index < lines.size() ? lines[index] : "";
    line += part + std::string(widths[column] - display_width(part) + 2, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

}  // namespace

void Table::limit_width(std::size_t column, std::size_t width) {
  limits_.resize(std::max(limits_.size(), column + 1), 0);
  limits_[column] = width;
}

std::string Table::to_text() const {
  std::vector<std::vector<Lines>> grid;
  std::vector<std::size_t> widths(header_.size(), 0);
  const auto add = [&](const std::vector<std::string>& cells) {
    std::vector<Lines> row(header_.size());
    for (std::size_t column = 0; column < header_.size(); ++column) {
      const auto limit = column < limits_.size() ? limits_[column] : 0;
      row[column] = cell_lines(column < cells.size() ? cells[column] : "", limit);
      for (const auto& line : row[column]) {
        widths[column] = std::max(widths[column], display_width(line));
      }
    }
    grid.push_back(std::move(row));
  };
  add(header_);
  for (const auto& row : rows_) add(row);

  std::string text;
  for (std::size_t r = 0; r < grid.size(); ++r) {
    std::size_t height = 0;
    for (const auto& lines : grid[r]) height = std::max(height, lines.size());
    for (std::size_t index = 0; index < height; ++index) append_line(text, grid[r], index, widths);
    if (r == 0) {
      std::size_t total = 0;
      for (auto width : widths) total += width + 2;
      for (std::size_t i = 0; i + 2 < total; ++i) text += "─";
      text += "\n";
    }
  }
  return text;
}

}  // namespace ubique
