// SPDX-License-Identifier: Apache-2.0
// Each rank gets, for its share of a bucket, the rows of all ranks, adds them up and tells the sum
// to the others.
#include "ubique/dist/background_sum.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <utility>

#include "ubique/base/error.h"

namespace ubique::dist {
namespace {

// x + -0.0 is x for every x, negative zero too.
constexpr double kAddsNothing = -0.0;

c10::impl::VirtualGuardImpl devices(c10::Device device) {
  return c10::impl::VirtualGuardImpl(device.type());
}

}  // namespace

BackgroundSum::BackgroundSum(const World& world, c10::Device device)
    : BackgroundSum(world.rank(), world.size(), world.beside(device), device) {}

BackgroundSum::BackgroundSum(int rank, int size, std::unique_ptr<Transport> transport,
                             c10::Device device)
    : rank_(rank), size_(size), transport_(std::move(transport)), device_(device) {
  check(transport_ != nullptr, ErrorKind::Internal,
        "[dist.sum] sums in the background of one process; expected several.");
  if (!device_.is_cpu()) stream_ = devices(device_).getStreamFromGlobalPool(device_);
  // The count of threads is kept for each thread, and for new ones: as it was for these.
  const int threads = at::get_num_threads();
  bool started = false;
  thread_ = std::thread([this, &started] {
    at::set_num_threads(1);
    {
      const std::scoped_lock lock(mutex_);
      started = true;
    }
    changed_.notify_all();
    work();
  });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return started; });
  at::set_num_threads(threads);
}

BackgroundSum::~BackgroundSum() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    if (busy_ || !jobs_.empty()) transport_->abandon();  // others may not come any more
    jobs_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundSum::begin(std::vector<SumBucket> buckets, std::vector<RowsOfRank> ranks) {
  buckets_ = std::move(buckets);
  ranks_ = std::move(ranks);
  received_.assign(buckets_.size(), std::vector<std::vector<at::Tensor>>(ranks_.size()));
  sums_.assign(buckets_.size(), at::Tensor());
}

std::int64_t BackgroundSum::rounds() const {
  std::int64_t rounds = 0;
  for (const auto& rank : ranks_) rounds = std::max(rounds, rank.end());
  return rounds;
}

void BackgroundSum::push(std::size_t bucket, std::int64_t round, std::vector<SumPiece> pieces) {
  Job job{bucket, round, std::move(pieces), std::nullopt};
  if (stream_) {
    job.computed.emplace(device_.type());
    job.computed->record(devices(device_).getStream(device_));
  }
  {
    const std::scoped_lock lock(mutex_);
    throw_failure();
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

std::vector<at::Tensor> BackgroundSum::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || (jobs_.empty() && !busy_); });
  throw_failure();
  for (const auto& sum : sums_) {  // is used by the caller's stream from now on
    if (sum.defined() && !sum.is_cpu()) sum.record_stream(devices(device_).getStream(device_));
  }
  return std::exchange(sums_, {});
}

void BackgroundSum::throw_failure() {
  if (failure_) std::rethrow_exception(failure_);
}

void BackgroundSum::work() {
  const c10::NoGradGuard no_gradients;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (ending_) return;
    busy_ = true;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      const c10::OptionalStreamGuard stream(stream_);
      if (job.computed) job.computed->block(*stream_);
      exchange(job);
      if (job.round + 1 == rounds()) add_up(job.bucket);
      job.pieces.clear();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    if (failure) {
      failure_ = failure;
      jobs_.clear();
    }
    changed_.notify_all();
    if (failure) return;
  }
}

std::int64_t BackgroundSum::share(std::size_t bucket) const {
  return (buckets_[bucket].length + size_ - 1) / size_;
}

/// The pieces one after the other, filled up to `length`.
at::Tensor BackgroundSum::row_of(const Job& job, std::int64_t length) const {
  auto row = at::empty({length}, at::TensorOptions(buckets_[job.bucket].dtype).device(device_));
  std::int64_t at = 0;
  for (const auto& [values, count] : job.pieces) {
    auto part = row.narrow(0, at, count);
    at += count;
    if (!values.defined()) {
      part.fill_(kAddsNothing);
      continue;
    }
    if (stream_) values.record_stream(*stream_);
    part.view(values.sizes()).copy_(values);
  }
  row.narrow(0, at, length - at).fill_(kAddsNothing);
  return row.to(transport_->device());
}

void BackgroundSum::exchange(const Job& job) {
  const auto width = share(job.bucket);
  const bool sends = ranks_[rank_].has(job.round);
  const std::vector<std::int64_t> to_each(size_, sends ? width : 0);
  std::vector<std::int64_t> from_each;
  std::int64_t coming = 0;
  for (const auto& rank : ranks_) {
    from_each.push_back(rank.has(job.round) ? width : 0);
    coming += from_each.back();
  }
  const auto sent = row_of(job, sends ? size_ * width : 0);
  const auto received = at::empty({coming}, sent.options());
  transport_->exchange(received, sent, from_each, to_each);
  std::int64_t at = 0;
  for (int rank = 0; rank < size_; ++rank) {
    if (from_each[rank] == 0) continue;
    received_[job.bucket][rank].push_back(received.narrow(0, at, width));
    at += width;
  }
}

void BackgroundSum::add_up(std::size_t bucket) {
  at::Tensor sum;
  for (const auto& rows : std::exchange(received_[bucket], {})) {
    for (const auto& row : rows) sum.defined() ? sum.add_(row) : sum = row.clone();
  }
  auto all = at::empty({size_ * share(bucket)}, sum.options());
  transport_->gather(all, sum);
  sums_[bucket] = all.narrow(0, 0, buckets_[bucket].length);
}

}  // namespace ubique::dist
