// SPDX-License-Identifier: Apache-2.0
// The first documents of others: a smaller training set of the same data.
#pragma once

#include <memory>

#include "ubique/data/code/token_documents.h"

namespace ubique::data {

class FirstDocuments final : public TokenDocuments {
 public:
  /// At most `count` of them, at least one.
  FirstDocuments(std::shared_ptr<const TokenDocuments> all, std::int64_t count);

  std::int64_t size() const override { return count_; }
  std::int64_t tokens() const override { return tokens_; }
  std::int64_t length(std::int64_t document) const override { return all_->length(document); }
  std::int64_t prompt_length(std::int64_t document) const override {
    return all_->prompt_length(document);
  }
  DocumentInfo info(std::int64_t document) const override { return all_->info(document); }
  void read(std::int64_t document, std::int64_t first, std::span<std::int32_t> out) const override {
    all_->read(document, first, out);
  }
  const std::string& tokenizer_hash() const override { return all_->tokenizer_hash(); }
  std::int64_t vocabulary() const override { return all_->vocabulary(); }
  std::int32_t end_of_text() const override { return all_->end_of_text(); }
  const std::string& fingerprint() const override { return fingerprint_; }

 private:
  std::shared_ptr<const TokenDocuments> all_;
  std::int64_t count_, tokens_ = 0;
  std::string fingerprint_;
};

}  // namespace ubique::data
