// SPDX-License-Identifier: Apache-2.0
// An MSI-Net training job: pictures with target maps, a model, and validation on held-out pictures.
#pragma once

#include <memory>
#include <vector>

#include "ubique/engine/contract/family.h"
#include "ubique/models/msinet/data/dataset.h"
#include "ubique/models/msinet/net/model.h"

namespace ubique::msinet {

/// The original's recipe: TensorFlow 1's Adam at a constant 1e-5, 10 epochs.
engine::Recipe original_recipe();

struct TaskParts {
  std::unique_ptr<MsiNetModel> model;
  std::unique_ptr<SaliencyDataset> training, validation;  ///< validation may be null
  engine::Recipe recipe;
  Json provenance;
  std::filesystem::path results;  ///< results folder; empty: in the run's folder
  std::string dataset;            ///< label in the names of result files
};

class Predictor;

class MsiNetTask final : public engine::Task {
 public:
  explicit MsiNetTask(TaskParts parts) : parts_(std::move(parts)) {}

  engine::Model& model() override { return *parts_.model; }
  const engine::Dataset& training_set() override { return *parts_.training; }
  const engine::Recipe& recipe() const override { return parts_.recipe; }
  /// Means of loss (the original's), kld, cc, sim and, with fixations, nss, at the network's size.
  engine::Scores validate() override;
  std::vector<engine::ReportPicture> pictures() override { return pictures_; }
  void epoch_closed(const engine::EpochRecord& record,
                    const std::filesystem::path& folder) override;
  Json provenance() const override { return parts_.provenance; }

 private:
  Json validate_batch(Predictor& predictor, std::int64_t number) const;

  TaskParts parts_;
  std::vector<engine::ReportPicture> pictures_;  // of the last validation
};

/// Reads the network, the data and the recipe from the request; starts from request.model.
std::unique_ptr<MsiNetTask> make_task(const engine::Request& request);

std::vector<engine::Option> msinet_train_options();

/// --dataset salicon,fixationadd1000: one training per data set, in this order.
std::vector<engine::TrainStage> dataset_stages(const Config& config);

}  // namespace ubique::msinet
