// SPDX-License-Identifier: Apache-2.0
// One training job as a family sets it up: a model, what it learns from, how, and how well it does.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ubique/engine/contract/dataset.h"
#include "ubique/engine/contract/model.h"
#include "ubique/engine/contract/recipe.h"

namespace ubique::engine {

class Optimizer;

/// A picture for the report, as PNG bytes.
struct ReportPicture {
  std::string caption;
  std::string png;
};

/// What an epoch came to; `step` is the last one of it.
struct EpochRecord {
  std::int64_t epoch = 0, step = 0;
  double train_loss = 0;
  Scores scores;
  double seconds = 0;
  bool best = false;
};

class Task {
 public:
  virtual ~Task() = default;
  virtual Model& model() = 0;
  virtual const Dataset& training_set() = 0;
  virtual const Recipe& recipe() const = 0;
  /// Scores on held-out data; empty where there is none. Called in eval mode without gradient,
  /// under the plan's autocast, with averaged weights if the recipe has them.
  virtual Scores validate() = 0;
  /// The same at the end of a run: a family that validates on a part of the data takes all of it.
  virtual Scores validate_last() { return validate(); }
  /// A few pictures of what the model does now, for the report; called as validate() is.
  virtual std::vector<ReportPicture> pictures() { return {}; }
  /// An epoch is over and its checkpoints are on disk; called as validate() is. The place for files
  /// of the family's own kind beside ours; `folder` is the run's.
  virtual void epoch_closed(const EpochRecord& /*record*/,
                            const std::filesystem::path& /*folder*/) {}
  /// A checkpoint is on disk: the place for what it cannot be used without.
  virtual void checkpoint_saved(const std::filesystem::path& /*folder*/) {}
  /// An optimizer of the family's own, for parameters that need a gradient; null: the engine's, by
  /// the options' name. Called once the network is on its device.
  virtual std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& /*options*/);
  /// What goes into the checkpoint's header beside the model's own config: folds, data hash.
  virtual Json provenance() const { return Json::object(); }
};

}  // namespace ubique::engine
