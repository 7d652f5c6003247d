// SPDX-License-Identifier: Apache-2.0
// The training loop: runs a task under a plan, writes a run folder, and can be killed at any moment
// and resumed.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

#include "ubique/base/terminal/progress.h"
#include "ubique/device/facts.h"
#include "ubique/engine/contract/task.h"
#include "ubique/engine/session/session.h"
#include "ubique/plan/plan.h"

namespace ubique::engine {

struct TrainOptions {
  std::filesystem::path folder;  ///< the run folder; made if absent
  /// Resume from checkpoints/last if there is one. Without it a folder that holds a run is refused.
  bool resume = false;
  std::filesystem::path resume_from;  ///< a checkpoint folder elsewhere; empty = this folder's last
  ProgressStyle progress = ProgressStyle::Lines;
  std::ostream* progress_stream = nullptr;  ///< none = stderr
  std::int64_t log_every = 10;           ///< steps between logged ones, which wait for the device
  std::chrono::seconds save_every{300};  ///< longest time between checkpoints
  std::string configuration;             ///< the text of run.yaml
  bool report = true;                    ///< write report.html
  std::function<bool()> stop_requested;  ///< called after every step; true = save and return
};

struct TrainResult {
  std::int64_t epochs = 0, steps = 0;
  double train_loss = 0;  ///< of the last epoch
  Scores scores;          ///< last validation
  Scores best;            ///< validation of the best epoch
  std::int64_t best_epoch = -1;
  std::int64_t skipped_steps = 0;  ///< non-finite gradients
  bool interrupted = false, stopped_early = false;
  std::int64_t predicted_bytes = 0, measured_bytes = 0;  ///< peak memory
  double seconds = 0;
  std::filesystem::path best_checkpoint, last_checkpoint, report;
};

/// Device error for a model that does not fit even at micro-batch 1; Input error for a checkpoint
/// of another model or a damaged one.
TrainResult train(Task& task, const Session& session, const TrainOptions& options);
/// The same under a plan that was made elsewhere, on the device that it names.
TrainResult train(Task& task, const plan::Plan& plan, const TrainOptions& options);

}  // namespace ubique::engine
