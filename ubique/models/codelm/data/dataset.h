// SPDX-License-Identifier: Apache-2.0
// Packed documents as training samples: a sample is one row of tokens.
#pragma once

#include <memory>

#include "ubique/data/code/packing.h"
#include "ubique/engine/contract/dataset.h"

namespace ubique::codelm {

class CodeDataset final : public engine::Dataset {
 public:
  /// `tokenizer` is needed for FIM only, and must outlive this.
  CodeDataset(std::shared_ptr<const data::TokenDocuments> documents,
              const data::PackingOptions& options, const io::Tokenizer* tokenizer);

  std::int64_t size() const override { return packing_.rows(); }
  /// "ids", "labels", "positions" and "documents" (B, T), i64. The weight is the number of labels
  /// that count.
  engine::Batch load(const std::vector<std::int64_t>& indices,
                     const engine::SampleRandoms& randoms) const override;
  std::string fingerprint() const override { return documents_->fingerprint(); }

  const data::TokenDocuments& documents() const { return *documents_; }

 private:
  std::shared_ptr<const data::TokenDocuments> documents_;
  data::Packing packing_;
};

}  // namespace ubique::codelm
