// SPDX-License-Identifier: Apache-2.0
// A MeshNet training task: a study's fold, a model, and validation by segmenting held-out scans.
#pragma once

#include <memory>
#include <vector>

#include "ubique/engine/contract/task.h"
#include "ubique/models/meshnet/data/dataset.h"
#include "ubique/models/meshnet/data/study.h"
#include "ubique/models/meshnet/net/model.h"

namespace ubique::meshnet {

class ScanSegmenter;

/// The paper's recipe: AdamW, one cycle, 50 epochs of batch 1.
engine::Recipe paper_recipe();

struct TaskParts {
  std::unique_ptr<MeshNetModel> model;
  std::unique_ptr<ScanDataset> training, validation;  ///< validation may be null
  engine::Recipe recipe;
  Json provenance;
};

class MeshNetTask final : public engine::Task {
 public:
  explicit MeshNetTask(TaskParts parts) : parts_(std::move(parts)) {}

  engine::Model& model() override { return *parts_.model; }
  const engine::Dataset& training_set() override { return *parts_.training; }
  const engine::Recipe& recipe() const override { return parts_.recipe; }
  engine::Scores validate() override;
  std::vector<engine::ReportPicture> pictures() override { return pictures_; }
  Json provenance() const override { return parts_.provenance; }
  void check_resume(const Json& provenance) const override;

  MeshNetModel& meshnet() { return *parts_.model; }

 private:
  Json validate_scan(ScanSegmenter& segmenter, std::int64_t index) const;

  TaskParts parts_;
  std::vector<engine::ReportPicture> pictures_;  // of the last validation
};

/// Reads network, study, recipe and cache from the request; request.model, if set, is the model to
/// start from.
std::unique_ptr<MeshNetTask> make_task(const engine::Request& request);

/// Training options of the family: network, data, folds, loss, cache.
std::vector<engine::Option> meshnet_train_options();

}  // namespace ubique::meshnet
