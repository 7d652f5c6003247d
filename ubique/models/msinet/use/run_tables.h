// SPDX-License-Identifier: Apache-2.0
// CSV tables beside the results: one line per box or fixation of each picture or frame.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "ubique/models/msinet/use/run_settings.h"

namespace ubique::msinet {

/// "rank,x,y,share" and a line per predicted fixation; every line begins with `begin`.
std::string fixation_csv_columns();
std::string fixation_csv_lines(std::string_view begin, const MeasuredMap<float>& map, int count);

/// A table that later runs into the same folder extend: new lines of a picture replace its old
/// ones.
class ResultTable {
 public:
  ResultTable(std::filesystem::path path, std::string header)
      : path_(std::move(path)), header_(std::move(header)) {}

  void add(const std::string& picture, const std::string& lines);
  /// Atomic. Does nothing if nothing was added.
  void write() const;

 private:
  std::string lines_of_others() const;

  std::filesystem::path path_;
  std::string header_, lines_;
  std::set<std::string> pictures_;
};

}  // namespace ubique::msinet
