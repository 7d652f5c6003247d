// SPDX-License-Identifier: Apache-2.0
// Each rank gets, for its share of a bucket, the rows of all ranks, adds them up and, where all
// want the whole sum, tells it to the others.
#include "ubique/dist/background_sum.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

namespace ubique::dist {
namespace {

// x + -0.0 is x for every x, negative zero too.
constexpr double kAddsNothing = -0.0;

}  // namespace

BackgroundSum::BackgroundSum(const World& world, c10::Device device)
    : BackgroundSum(world.rank(), world.size(), world.beside(device), device) {}

BackgroundSum::BackgroundSum(int rank, int size, std::unique_ptr<Transport> transport,
                             c10::Device device)
    : BackgroundSum(rank, size, std::make_shared<Background>(std::move(transport), device)) {}

BackgroundSum::BackgroundSum(int rank, int size, std::shared_ptr<Background> background)
    : rank_(rank), size_(size), background_(std::move(background)) {}

BackgroundSum::~BackgroundSum() { background_->stop(); }

void BackgroundSum::begin(std::vector<SumBucket> buckets, std::vector<RowsOfRank> ranks,
                          SumResult result) {
  buckets_ = std::move(buckets);
  ranks_ = std::move(ranks);
  result_ = result;
  received_.assign(buckets_.size(), std::vector<std::vector<at::Tensor>>(ranks_.size()));
  sums_.assign(buckets_.size(), at::Tensor());
}

std::int64_t BackgroundSum::rounds() const {
  std::int64_t rounds = 0;
  for (const auto& rank : ranks_) rounds = std::max(rounds, rank.end());
  return rounds;
}

void BackgroundSum::push(std::size_t bucket, std::int64_t round, std::vector<SumPiece> pieces) {
  background_->push([this, row = Row{bucket, round, std::move(pieces)}](Transport& transport) {
    exchange(transport, row);
    const bool complete = row.round + 1 == rounds();
    if (complete && result_ == SumResult::Whole) add_up(transport, row.bucket);
  });
}

std::vector<at::Tensor> BackgroundSum::finish() {
  background_->wait();
  for (const auto& sum : sums_) background_->keep_for_caller(sum);
  return std::exchange(sums_, {});
}

std::int64_t BackgroundSum::share(std::size_t bucket) const {
  return (buckets_[bucket].length + size_ - 1) / size_;
}

/// The pieces one after the other, filled up to `length`.
at::Tensor BackgroundSum::values_of(const Row& row, std::int64_t length) const {
  const at::TensorOptions options(buckets_[row.bucket].dtype);
  auto values = at::empty({length}, options.device(background_->device()));
  std::int64_t at = 0;
  for (const auto& piece : row.pieces) {
    auto part = values.narrow(0, at, piece.length);
    at += piece.length;
    if (!piece.values.defined()) {
      part.fill_(kAddsNothing);
      continue;
    }
    background_->keep_for_job(piece.values);
    part.view(piece.values.sizes()).copy_(piece.values);
  }
  values.narrow(0, at, length - at).fill_(kAddsNothing);
  return values;
}

void BackgroundSum::exchange(Transport& transport, const Row& row) {
  const auto width = share(row.bucket);
  const bool sends = ranks_[rank_].has(row.round);
  const std::vector<std::int64_t> to_each(size_, sends ? width : 0);
  std::vector<std::int64_t> from_each;
  std::int64_t coming = 0;
  for (const auto& rank : ranks_) {
    from_each.push_back(rank.has(row.round) ? width : 0);
    coming += from_each.back();
  }
  const auto sent = values_of(row, sends ? size_ * width : 0).to(transport.device());
  const auto received = at::empty({coming}, sent.options());
  transport.exchange(received, sent, from_each, to_each);
  std::vector<at::Tensor> rows(size_);
  std::int64_t at = 0;
  for (int rank = 0; rank < size_; ++rank) {
    if (from_each[rank] == 0) continue;
    rows[rank] = received.narrow(0, at, width);
    at += width;
  }
  add_received(row.bucket, rows);
}

/// Whole sums have the bits of one process: their rows wait for each other.
void BackgroundSum::add_received(std::size_t bucket, const std::vector<at::Tensor>& rows) {
  auto& sum = sums_[bucket];
  for (int rank = 0; rank < size_; ++rank) {
    const auto& row = rows[rank];
    if (!row.defined()) continue;
    if (result_ == SumResult::Whole) {
      received_[bucket][rank].push_back(row);
    } else {
      sum.defined() ? sum.add_(row) : sum = row.clone();
    }
  }
}

void BackgroundSum::add_up(Transport& transport, std::size_t bucket) {
  at::Tensor sum;
  for (const auto& rows : std::exchange(received_[bucket], {})) {
    for (const auto& row : rows) sum.defined() ? sum.add_(row) : sum = row.clone();
  }
  auto all = at::empty({size_ * share(bucket)}, sum.options());
  transport.gather(all, sum);
  sums_[bucket] = all.narrow(0, 0, buckets_[bucket].length);
}

}  // namespace ubique::dist
