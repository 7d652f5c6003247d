// SPDX-License-Identifier: Apache-2.0
// Counts the tokens of the first documents.
#include "ubique/data/code/first_documents.h"

#include <fmt/format.h>

#include <algorithm>

namespace ubique::data {

FirstDocuments::FirstDocuments(std::shared_ptr<const TokenDocuments> all, std::int64_t count)
    : all_(std::move(all)),
      count_(std::clamp<std::int64_t>(count, 1, all_->size())),
      fingerprint_(fmt::format("{}, the first {}", all_->fingerprint(), count_)) {
  for (std::int64_t i = 0; i < count_; ++i) tokens_ += all_->length(i);
}

}  // namespace ubique::data
