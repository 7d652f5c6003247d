// SPDX-License-Identifier: Apache-2.0
// metrics.jsonl: one JSON object per line, {"kind": "step", ...} or {"kind": "epoch", ...}, each
// step and each epoch once, also after kills and resumes. Keeps the records in memory for the
// report.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ubique/engine/run/run_folder.h"

namespace ubique::engine {

class MetricsLog {
 public:
  /// Reads the records of an earlier session; a line truncated by a kill is dropped.
  explicit MetricsLog(std::filesystem::path path);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  const std::vector<StepRecord>& steps() const { return steps_; }
  const std::vector<EpochRecord>& epochs() const { return epochs_; }

  /// Adds a line; older records of this step and later ones are removed.
  void add(const StepRecord& record);
  void add(const EpochRecord& record);
  /// Removes all records after a step.
  void rewind(std::int64_t step);
  void sync();  ///< flushes to disk: the lines so far survive a power cut

 private:
  void read();
  void read_line(const std::string& line);
  void append(const std::string& line);
  void rewrite();

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::vector<StepRecord> steps_;
  std::vector<EpochRecord> epochs_;
};

}  // namespace ubique::engine
