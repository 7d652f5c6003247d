// SPDX-License-Identifier: Apache-2.0
// Rows of the packing as tensors.
#include "ubique/models/codelm/data/dataset.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "ubique/base/error.h"

namespace ubique::codelm {
namespace {

at::Tensor as_row(const std::vector<std::int32_t>& values) {
  return at::tensor(at::ArrayRef<int>(values.data(), values.size()), at::kInt).to(at::kLong);
}

/// The number of each position's document: (T).
at::Tensor document_numbers(const std::vector<std::int32_t>& starts, std::int64_t length) {
  auto numbers = at::zeros({length}, at::kLong);
  for (std::size_t i = 1; i + 1 < starts.size(); ++i) {
    numbers.slice(0, starts[i], length).fill_(static_cast<std::int64_t>(i));
  }
  return numbers;
}

/// The first tokens of all rows' documents among all their tokens, then the number of tokens,
/// repeated up to a power of two: few different shapes, so that a recorded step fits most batches.
at::Tensor packed_starts(const std::vector<data::PackedRow>& rows, std::int64_t length) {
  std::vector<std::int32_t> starts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto first = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * length);
    const auto& own = rows[i].starts;
    std::transform(own.begin(), own.end() - 1, std::back_inserter(starts),
                   [&](std::int32_t start) { return first + start; });
  }
  const auto all = static_cast<std::int64_t>(rows.size()) * length;
  starts.resize(std::bit_ceil(starts.size() + 1), static_cast<std::int32_t>(all));
  return at::tensor(at::ArrayRef<int>(starts.data(), starts.size()), at::kInt);
}

}  // namespace

std::int64_t Curriculum::longest(std::int64_t epoch, std::int64_t length) const {
  if (start == 0) return 0;
  const auto goal = end > 0 ? std::min(end, length) : length;
  const auto first = std::min(start, goal);
  return epoch >= epochs ? goal : first + (goal - first) * epoch / epochs;
}

void validate(const Curriculum& curriculum, std::int64_t length) {
  if (curriculum.start == 0 && curriculum.end == 0) return;
  check(curriculum.start >= 2 && curriculum.epochs >= 1 &&
            (curriculum.end == 0 || curriculum.end >= curriculum.start),
        ErrorKind::Usage,
        "[codelm.curriculum] lengths grow from {} to {} tokens in {} epochs; expected 2 or more at "
        "the start, no fewer at the end, and an epoch or more.",
        curriculum.start, curriculum.end == 0 ? length : curriculum.end, curriculum.epochs);
}

CodeDataset::CodeDataset(std::shared_ptr<const data::TokenDocuments> documents,
                         const data::PackingOptions& options, const io::Tokenizer* tokenizer,
                         const Curriculum& curriculum)
    : documents_(std::move(documents)),
      options_(options),
      tokenizer_(tokenizer),
      curriculum_(curriculum),
      rows_(0) {
  const auto last = curriculum.start > 0 ? curriculum.epochs : 0;
  for (std::int64_t epoch = 0; epoch <= last; ++epoch) {
    rows_ = std::max(rows_, packing_of(epoch)->rows());
  }
}

std::shared_ptr<const data::Packing> CodeDataset::packing_of(std::int64_t epoch) const {
  const std::lock_guard lock(mutex_);
  auto& packing = packings_[epoch];
  if (!packing) {
    auto options = options_;
    options.longest = curriculum_.longest(epoch, options.length);
    packing = std::make_shared<data::Packing>(*documents_, options, epoch, tokenizer_);
    // The loader reads ahead into the next epoch at most.
    std::erase_if(packings_, [&](const auto& item) { return std::abs(item.first - epoch) > 1; });
  }
  return packing;
}

std::vector<std::int64_t> CodeDataset::order(std::int64_t epoch, std::int64_t /*per_update*/,
                                             const Random& /*random*/) const {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(rows_));
  std::iota(indices.begin(), indices.end(), epoch * rows_);
  return indices;
}

engine::Batch CodeDataset::load(const std::vector<std::int64_t>& indices,
                                const engine::SampleRandoms& /*randoms*/) const {
  std::vector<at::Tensor> ids, labels, positions, documents;
  std::vector<data::PackedRow> rows;
  engine::Batch batch;
  for (const auto index : indices) {
    const auto packing = packing_of(index / rows_);
    rows.push_back(packing->row(index % rows_ % packing->rows()));
    const auto& row = rows.back();
    ids.push_back(as_row(row.ids));
    labels.push_back(as_row(row.labels));
    positions.push_back(as_row(row.positions));
    documents.push_back(document_numbers(row.starts, static_cast<std::int64_t>(row.ids.size())));
    batch.weight += static_cast<double>(row.label_count);
  }
  batch.tensors = {{"ids", at::stack(ids)},
                   {"labels", at::stack(labels)},
                   {"positions", at::stack(positions)},
                   {"documents", at::stack(documents)},
                   {"starts", packed_starts(rows, options_.length)}};
  batch.samples = static_cast<std::int64_t>(indices.size());
  return batch;
}

}  // namespace ubique::codelm
