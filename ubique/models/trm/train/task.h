// SPDX-License-Identifier: Apache-2.0
// A TRM training task: data set, model, optimizer, and validation on held-out puzzles.
#pragma once

#include <memory>

#include "ubique/engine/contract/family.h"
#include "ubique/models/trm/data/dataset.h"
#include "ubique/models/trm/net/model.h"
#include "ubique/models/trm/train/optimizer.h"

namespace ubique::trm {

/// The original's recipe: AdamATan2 at 1e-4 after 2000 warm-up steps, averaged weights.
engine::Recipe original_recipe();

/// Settings of a training run beside the network, read from the original's keys.
struct TrainSettings {
  std::vector<std::filesystem::path> data, test;
  engine::Recipe recipe;          ///< an epoch ends with an evaluation: `passes` passes
  std::int64_t passes = 1;        ///< eval_interval: passes between evaluations
  std::int64_t total_passes = 1;  ///< the key `epochs`: passes in all
  std::int64_t batch = 768;       ///< global_batch_size; the schedule's length is computed from it
  TableOptions table;
  bool freeze_weights = false;
  std::optional<bool> augment;  ///< none: decided by the data set
  std::int64_t subset = 10000;  ///< validation puzzles during the run
  std::string model;            ///< --model or load_checkpoint
};

/// Usage error for values out of range and for contradicting keys.
TrainSettings read_train_settings(const engine::Request& request);
std::vector<engine::Option> trm_train_options();

struct TaskParts {
  std::unique_ptr<TrmModel> model;
  std::unique_ptr<PuzzleDataset> training;
  std::shared_ptr<const data::PuzzleSet> test;  ///< may be null
  TrainSettings settings;
  Json provenance;
};

class TrmTask final : public engine::Task {
 public:
  explicit TrmTask(TaskParts parts) : parts_(std::move(parts)) {}

  engine::Model& model() override { return *parts_.model; }
  const engine::Dataset& training_set() override { return *parts_.training; }
  const engine::Recipe& recipe() const override { return parts_.settings.recipe; }
  engine::Scores validate() override { return evaluate_on(parts_.settings.subset); }
  engine::Scores validate_last() override { return evaluate_on(0); }
  /// The first held-out puzzle, step by step.
  std::vector<engine::ReportPicture> pictures() override;
  /// Copies the tokenizer of a chat data set to RUN/tokenizer.
  void checkpoint_saved(const std::filesystem::path& folder) override;
  std::unique_ptr<engine::Optimizer> make_optimizer(
      const engine::OptimizerOptions& options) override;
  Json provenance() const override { return parts_.provenance; }

 private:
  engine::Scores evaluate_on(std::int64_t limit);

  TaskParts parts_;
};

std::unique_ptr<TrmTask> make_task(const engine::Request& request);

}  // namespace ubique::trm
