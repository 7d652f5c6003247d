// SPDX-License-Identifier: Apache-2.0
// A TRM training job: puzzles, a network, and how many of the puzzles held out it solves.
#pragma once

#include <memory>

#include "ubique/engine/contract/family.h"
#include "ubique/models/trm/data/dataset.h"
#include "ubique/models/trm/net/model.h"
#include "ubique/models/trm/train/optimizer.h"

namespace ubique::trm {

/// The original's: AdamATan2 at 1e-4 after 2000 steps of warm-up, averaged weights.
engine::Recipe original_recipe();

/// What the original's keys say beside the network.
struct TrainSettings {
  std::vector<std::filesystem::path> data, test;
  engine::Recipe recipe;        ///< epochs are evaluations: `passes` through the puzzles each
  std::int64_t passes = 1;      ///< eval_interval
  std::int64_t all_passes = 1;  ///< epochs, as the original counts them
  std::int64_t batch = 768;     ///< global_batch_size; what the schedule is made for
  TableOptions table;
  bool freeze_weights = false;
  std::optional<bool> augment;  ///< none: as the set says
  std::int64_t subset = 10000;  ///< puzzles to validate with during the run
  std::string model;            ///< --model or load_checkpoint
};

/// Usage error for values that cannot be and for keys that contradict each other.
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
  /// A puzzle held out, step by step.
  std::vector<engine::ReportPicture> pictures() override;
  /// The tokenizer of a chat's data set goes with what learnt from it: RUN/tokenizer.
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
