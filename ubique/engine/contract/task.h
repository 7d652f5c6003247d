// SPDX-License-Identifier: Apache-2.0
// One training job of a family: the model, the training set, the recipe and the validation.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ubique/engine/contract/dataset.h"
#include "ubique/engine/contract/model.h"
#include "ubique/engine/contract/optimizer.h"
#include "ubique/engine/contract/recipe.h"

namespace ubique::engine {

/// A picture for the report, as PNG bytes.
struct ReportPicture {
  std::string caption;
  std::string png;
};

/// A text for the report and the metrics: what a model writes.
struct ReportText {
  std::string caption;
  std::string text;
};

/// A sound for the report, as the bytes of a sound file.
struct ReportSound {
  std::string caption;
  std::string format;  ///< "wav", "ogg", "flac" or "mp3"
  std::string bytes;   ///< of the file
  std::string file =
      {};  ///< its path in the run folder, linked where the page would grow too large
};

/// The results of one epoch; `step` is its last step.
struct EpochRecord {
  std::int64_t epoch = 0, step = 0;
  double train_loss = 0;
  Scores scores;
  double seconds = 0;
  bool best = false;
  std::vector<ReportText> texts = {};  ///< of Task::texts()
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
  /// The same at the end of a run, on all data if validate() takes a subset.
  virtual Scores validate_last() { return validate(); }
  /// A few pictures of what the model does now, for the report; called as validate() is.
  virtual std::vector<ReportPicture> pictures() { return {}; }
  /// A few sounds that the model makes now, for the report; called as validate() is.
  virtual std::vector<ReportSound> sounds() { return {}; }
  /// A few texts of what the model writes now, for the log, the metrics and the report; called
  /// after validate(), as that is.
  virtual std::vector<ReportText> texts() { return {}; }
  /// Called after an epoch's checkpoints are written, in the mode of validate(). For files in the
  /// family's own formats; `folder` is the run's.
  virtual void epoch_closed(const EpochRecord& /*record*/,
                            const std::filesystem::path& /*folder*/) {}
  /// Called after a checkpoint is written. For files that the model needs beside it (a tokenizer).
  virtual void checkpoint_saved(const std::filesystem::path& /*folder*/) {}
  /// The family's own optimizer for the trainable parameters; null: the engine's, by the options'
  /// name. Called once the network is on its device.
  virtual std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& /*options*/) {
    return nullptr;
  }
  /// For the checkpoint's header beside the model's config: folds, data hash.
  virtual Json provenance() const { return Json::object(); }
  /// Input error if a run whose checkpoint has this provenance must not go on as this task.
  virtual void check_resume(const Json& /*provenance*/) const {}
};

}  // namespace ubique::engine
