// SPDX-License-Identifier: Apache-2.0
// A training job of a code language model: whole or through adapters, with validation by loss and
// perplexity and completions for people to read.
#pragma once

#include <memory>

#include "ubique/engine/contract/family.h"
#include "ubique/models/codelm/data/dataset.h"
#include "ubique/models/codelm/net/model.h"
#include "ubique/models/codelm/train/settings.h"

namespace ubique::codelm {

struct CodelmTaskParts {
  TrainSettings settings;
  std::unique_ptr<CodelmModel> model;
  std::shared_ptr<const io::Tokenizer> tokenizer;
  std::filesystem::path tokenizer_path;  ///< its file or folder, copied into the run
  std::unique_ptr<CodeDataset> training;
  std::unique_ptr<CodeDataset> validation;  ///< may be null
};

class CodelmTask final : public engine::Task {
 public:
  explicit CodelmTask(CodelmTaskParts parts) : parts_(std::move(parts)) {}

  engine::Model& model() override { return *parts_.model; }
  const engine::Dataset& training_set() override { return *parts_.training; }
  const engine::Recipe& recipe() const override { return parts_.settings.recipe; }
  engine::Scores validate() override;
  engine::Scores validate_last() override;
  /// Copies the tokenizer to RUN/tokenizer.
  void checkpoint_saved(const std::filesystem::path& folder) override;
  Json provenance() const override;
  /// Completions of the prompts.
  std::vector<engine::ReportText> texts() override;

 private:
  engine::Scores score(std::int64_t most_rows);

  CodelmTaskParts parts_;
};

/// A network of this shape for the tokenizer, its weights not set yet. Input error for sizes that
/// do not fit together.
std::unique_ptr<CodelmModel> new_model(CodelmConfig network, const io::Tokenizer& tokenizer);

std::unique_ptr<engine::Task> make_codelm_task(const engine::Request& request);

}  // namespace ubique::codelm
