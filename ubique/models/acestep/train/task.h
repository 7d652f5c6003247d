// SPDX-License-Identifier: Apache-2.0
// A training job of the transformer: whole or through an adapter, with validation by the loss at
// fixed noise levels and songs to listen to.
#pragma once

#include <memory>
#include <optional>

#include "ubique/engine/contract/family.h"
#include "ubique/models/acestep/data/dataset.h"
#include "ubique/models/acestep/net/model.h"
#include "ubique/models/acestep/train/preview.h"
#include "ubique/models/acestep/train/settings.h"

namespace ubique::acestep {

struct TransformerTaskParts {
  TrainSettings settings;
  std::unique_ptr<AcestepModel> model;
  std::unique_ptr<SongDataset> training;
  std::unique_ptr<SongDataset> validation;  ///< may be null
  std::optional<PreviewMaker> preview;
};

class TransformerTask final : public engine::Task {
 public:
  explicit TransformerTask(TransformerTaskParts parts) : parts_(std::move(parts)) {}

  engine::Model& model() override { return *parts_.model; }
  const engine::Dataset& training_set() override { return *parts_.training; }
  const engine::Recipe& recipe() const override { return parts_.settings.recipe; }
  engine::Scores validate() override { return score(parts_.settings.val_clips); }
  engine::Scores validate_last() override { return score(0); }
  void epoch_closed(const engine::EpochRecord& record,
                    const std::filesystem::path& folder) override;
  std::vector<engine::ReportSound> sounds() override;
  std::vector<engine::ReportPicture> pictures() override;
  Json provenance() const override;

 private:
  engine::Scores score(std::int64_t most_clips);

  TransformerTaskParts parts_;
  bool preview_due_ = false;  // a validation was made in this epoch
};

/// The job that the request describes.
std::unique_ptr<engine::Task> make_acestep_task(const engine::Request& request);

}  // namespace ubique::acestep
