// SPDX-License-Identifier: Apache-2.0
// Lines of predicted fixations, and merging with a table of an earlier run.
#include "ubique/models/msinet/use/run_tables.h"

#include <fmt/format.h>

#include "ubique/base/files/file.h"
#include "ubique/base/text/csv.h"
#include "ubique/base/text/text.h"

namespace ubique::msinet {

std::string fixation_csv_columns() { return "rank,x,y,share"; }

std::string fixation_csv_lines(std::string_view begin, const MeasuredMap<float>& map, int count) {
  std::string text;
  int rank = 0;
  for (const auto& peak : find_peaks(map, count, peak_distance(map))) {
    text += fmt::format("{},{},{},{},{:.6f}\n", begin, ++rank, peak.x, peak.y, peak.share);
  }
  return text;
}

void ResultTable::add(const std::string& picture, const std::string& lines) {
  pictures_.insert(picture);
  lines_ += lines;
}

std::string ResultTable::lines_of_others() const {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return {};
  const auto text = read_file(path_);
  if (!text.starts_with(header_)) return {};  // not our table: it is replaced
  std::string kept;
  for (const auto& line : parse_csv(text.substr(header_.size()), path_.string())) {
    if (pictures_.contains(line.fields.front())) continue;
    std::vector<std::string> fields;
    for (const auto& field : line.fields) fields.push_back(csv_field(field));
    kept += join(fields, ",") + "\n";
  }
  return kept;
}

void ResultTable::write() const {
  if (!pictures_.empty()) write_file(path_, header_ + lines_of_others() + lines_);
}

}  // namespace ubique::msinet
