// SPDX-License-Identifier: Apache-2.0
// The CSV parser: one pass over the text, with line numbers for messages.
#include "ubique/base/text/csv.h"

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& where) : text_(text), where_(where) {
    if (text_.starts_with("\xEF\xBB\xBF"))
      text_.remove_prefix(3);  // byte order mark of spreadsheets
  }

  std::vector<CsvLine> read() {
    std::vector<CsvLine> lines;
    while (position_ < text_.size()) {
      CsvLine line{number_, read_line()};
      if (line.fields.size() > 1 || !line.fields.front().empty()) lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  std::vector<std::string> read_line() {
    std::vector<std::string> fields;
    while (true) {
      fields.push_back(read_field());
      if (position_ >= text_.size() || text_[position_++] == '\n') break;
    }
    ++number_;
    return fields;
  }

  /// Stops before the comma or the line end.
  std::string read_field() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
    if (position_ < text_.size() && text_[position_] == '"') return read_quoted();
    const auto end = std::min(text_.find_first_of(",\n", position_), text_.size());
    const auto field = trim(text_.substr(position_, end - position_));
    position_ = end;
    return std::string(field);
  }

  std::string read_quoted() {
    const int begun = number_;
    std::string field;
    for (++position_; position_ < text_.size(); ++position_) {
      if (text_[position_] == '\n') ++number_;
      if (text_[position_] != '"') {
        field += text_[position_];
      } else if (text_.substr(position_ + 1).starts_with('"')) {
        field += text_[++position_];
      } else {
        // Text between a closing quote and the next comma is ignored.
        position_ = std::min(text_.find_first_of(",\n", position_), text_.size());
        return field;
      }
    }
    fail(ErrorKind::Input, "[base.csv] {} line {}: a quote is opened and never closed.", where_,
         begun);
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t position_ = 0;
  int number_ = 1;
};

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + "\"";
}

std::vector<CsvLine> parse_csv(std::string_view text, const std::string& where) {
  return CsvReader(text, where).read();
}

}  // namespace ubique
