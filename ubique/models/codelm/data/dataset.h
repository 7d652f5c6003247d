// SPDX-License-Identifier: Apache-2.0
// Packed documents as training samples: a sample is one row of tokens. Every epoch packs anew, with
// other neighbours in a row and other places of fill-in-the-middle.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "ubique/data/code/packing.h"
#include "ubique/engine/contract/dataset.h"

namespace ubique::codelm {

/// Documents are cut into windows of at most so many tokens, which grow over the first epochs.
struct Curriculum {
  std::int64_t start = 0;   ///< tokens in the first epoch; 0 = no curriculum
  std::int64_t end = 0;     ///< tokens after `epochs`; 0 = a whole row
  std::int64_t epochs = 1;  ///< in which the length grows

  /// Tokens of a window in an epoch; rows have `length`.
  std::int64_t longest(std::int64_t epoch, std::int64_t length) const;
};

/// Usage error for values that cannot be.
void validate(const Curriculum& curriculum, std::int64_t length);

class CodeDataset final : public engine::Dataset {
 public:
  /// `tokenizer` is needed for FIM only, and must outlive this.
  CodeDataset(std::shared_ptr<const data::TokenDocuments> documents,
              const data::PackingOptions& options, const io::Tokenizer* tokenizer,
              const Curriculum& curriculum = {});

  std::int64_t size() const override { return rows_; }
  /// Row i of an epoch has the index epoch · size() + i.
  std::vector<std::int64_t> order(std::int64_t epoch, std::int64_t per_update,
                                  const Random& random) const override;
  /// "ids", "labels", "positions" and "documents" (B, T), i64. The weight is the number of labels
  /// that count.
  engine::Batch load(const std::vector<std::int64_t>& indices,
                     const engine::SampleRandoms& randoms) const override;
  std::string fingerprint() const override { return documents_->fingerprint(); }

  const data::TokenDocuments& documents() const { return *documents_; }

 private:
  std::shared_ptr<const data::Packing> packing_of(std::int64_t epoch) const;

  std::shared_ptr<const data::TokenDocuments> documents_;
  data::PackingOptions options_;
  const io::Tokenizer* tokenizer_;
  Curriculum curriculum_;
  // The same in every epoch: it depends on the documents' lengths alone. With a curriculum, of the
  // epoch with the most rows; the others show some rows twice.
  std::int64_t rows_;
  mutable std::mutex mutex_;
  mutable std::map<std::int64_t, std::shared_ptr<const data::Packing>> packings_;  // by epoch
};

}  // namespace ubique::codelm
