// SPDX-License-Identifier: Apache-2.0
#include "ubique/base/text/csv.h"

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& where) : text_(text), where_(where) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // spreadsheets write one
  }

  std::vector<CsvLine> read() {
    std::vector<CsvLine> lines;
    while (place_ < text_.size()) {
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
      if (place_ >= text_.size() || text_[place_++] == '\n') break;
    }
    ++number_;
    return fields;
  }

  /// Stops before the comma or the line end.
  std::string read_field() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
    if (place_ < text_.size() && text_[place_] == '"') return read_quoted();
    const auto end = std::min(text_.find_first_of(",\n", place_), text_.size());
    const auto field = trim(text_.substr(place_, end - place_));
    place_ = end;
    return std::string(field);
  }

  std::string read_quoted() {
    const int begun = number_;
    std::string field;
    for (++place_; place_ < text_.size(); ++place_) {
      if (text_[place_] == '\n') ++number_;
      if (text_[place_] != '"') {
        field += text_[place_];
      } else if (text_.substr(place_ + 1).starts_with('"')) {
        field += text_[++place_];
      } else {
        // What follows a closing quote belongs to no field.
        place_ = std::min(text_.find_first_of(",\n", place_), text_.size());
        return field;
      }
    }
    fail(ErrorKind::Input, "[base.csv] {} line {}: a quote is opened and never closed.", where_,
         begun);
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t place_ = 0;
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
