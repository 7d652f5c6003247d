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

class CodeDataset final : public engine::Dataset {
 public:
  /// `tokenizer` is needed for FIM only, and must outlive this.
  CodeDataset(std::shared_ptr<const data::TokenDocuments> documents,
              const data::PackingOptions& options, const io::Tokenizer* tokenizer);

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
  std::int64_t rows_;  // the same in every epoch: it depends on the documents' lengths alone
  mutable std::mutex mutex_;
  mutable std::map<std::int64_t, std::shared_ptr<const data::Packing>> packings_;  // by epoch
};

}  // namespace ubique::codelm
