// SPDX-License-Identifier: Apache-2.0
// Tables beside the results: one line for each box or fixation of each picture or frame.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "ubique/models/msinet/use/run_settings.h"

namespace ubique::msinet {

/// "x,y,share" and so on; what stands before each line is the caller's.
std::string fixation_csv_columns();
std::string fixation_csv_lines(std::string_view begin, const MeasuredMap<float>& map, int count);

/// A table that grows with every run into the same folder: a picture's lines replace its older
/// ones.
class ResultTable {
 public:
  ResultTable(std::filesystem::path path, std::string header)
      : path_(std::move(path)), header_(std::move(header)) {}

  void add(const std::string& picture, const std::string& lines);
  /// Nothing if nothing was added. Atomic.
  void write() const;

 private:
  std::string lines_of_others() const;

  std::filesystem::path path_;
  std::string header_, lines_;
  std::set<std::string> pictures_;
};

}  // namespace ubique::msinet
