// SPDX-License-Identifier: Apache-2.0
// The folder of a training run: run.yaml, plan.json, metrics.jsonl, events for TensorBoard,
// checkpoints and report.html. Only one process at a time may write it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/engine/contract/task.h"
#include "ubique/plan/plan.h"

namespace ubique::engine {

/// One line of metrics.jsonl: the results of a step.
struct StepRecord {
  std::int64_t step = 0, epoch = 0;
  double loss = 0, lr = 0, grad_norm = 0, scale = 0, samples_per_second = 0;
  std::int64_t memory_now = 0, memory_peak = 0;
  Scores metrics;
  bool skipped = false;  ///< non-finite gradients: the weights are unchanged
};

/// The content of report.html besides the records.
struct ReportContent {
  std::string title;
  const plan::Plan* plan = nullptr;
  std::int64_t predicted_bytes = 0, measured_bytes = 0;  ///< peak memory; 0 = not known
  std::vector<ReportPicture> pictures;
  std::string status;  ///< "running", "finished", "interrupted", ...
  Json facts;          ///< an object, shown as a list of names and values
  std::vector<ReportSound> sounds = {};
};

class RunFolder {
 public:
  /// Creates the folder if absent and locks it for this process. Usage error for a folder that
  /// holds a run already (unless `resume`) and for one in use by another process.
  RunFolder(std::filesystem::path path, bool resume);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  void write_configuration(const std::string& yaml);
  void write_plan(const plan::Plan& plan);
  void log_step(const StepRecord& record);
  void log_epoch(const EpochRecord& record);
  /// checkpoints/NAME.
  std::filesystem::path checkpoint_path(const std::string& name) const;
  /// Saves checkpoints/NAME, then removes all but the newest `keep` step-N folders (0 = no limit;
  /// `best` and `last` do not count).
  void save(const Checkpoint& checkpoint, const std::string& name, std::int64_t keep);
  std::optional<Checkpoint> load_last() const;
  void write_report(const ReportContent& content);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ubique::engine
