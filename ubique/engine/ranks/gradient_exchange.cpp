// SPDX-License-Identifier: Apache-2.0
// Buckets pushed by autograd's hooks, the rest after the passes.
#include "ubique/engine/ranks/gradient_exchange.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/plan/world/exchange.h"

namespace ubique::engine {
namespace {

void merge_marks(std::string& marks, const std::string& more) {
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (more[i] == '1') marks[i] = '1';
  }
}

}  // namespace

GradientExchange::GradientExchange(const dist::World& world, const NamedTensors& parameters)
    : rank_(world.rank()),
      parameters_(parameters),
      sums_(world, parameters.empty() ? at::kCPU : parameters.front().second.device()),
      hooks_(parameters, [this](std::size_t index) { accumulated(index); }) {
  relearn();
}

void GradientExchange::relearn() {
  reset();
  learned_ = false;
  late_.assign(parameters_.size(), '0');
  arrange({});
}

void GradientExchange::arrange(const std::vector<std::size_t>& ready) {
  const auto early = early_ones(ready, late_);
  const auto bytes = plan::bucket_bytes(gradient_bytes(parameters_));
  buckets_ = make_buckets(parameters_, early, bytes);
  early_ = buckets_.size();
  const auto others = other_ones(early, parameters_.size());
  for (auto& bucket : make_buckets(parameters_, others, bytes)) {
    buckets_.push_back(std::move(bucket));
  }
  bucket_of_.assign(parameters_.size(), 0);
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    for (const auto index : buckets_[bucket].members) bucket_of_[index] = bucket;
  }
}

void GradientExchange::reset() {
  if (started_) sums_.finish();
  started_ = passing_ = false;
  present_.assign(parameters_.size(), '0');
  repeated_.assign(parameters_.size(), '0');
  ready_.clear();
  too_late_.assign(parameters_.size(), at::Tensor());
}

void GradientExchange::start(std::vector<dist::RowsOfRank> ranks) {
  ranks_ = std::move(ranks);
  std::vector<dist::SumBucket> sizes;
  for (const auto& bucket : buckets_) sizes.push_back(bucket.size);
  sums_.begin(std::move(sizes), ranks_);
  started_ = true;
  round_ = 0;
  next_ = 0;
  skip_rounds_of_others();
}

bool GradientExchange::has_row() const { return ranks_[rank_].has(round_); }

void GradientExchange::skip_rounds_of_others() {
  while (round_ < sums_.rounds() && !has_row()) complete_round();
}

void GradientExchange::complete_round() {
  while (next_ < buckets_.size()) push_next();
  next_ = 0;
  ++round_;
}

/// Takes the gradients away from their parameters.
void GradientExchange::push_next() {
  std::vector<dist::SumPiece> pieces;
  for (const auto index : buckets_[next_].members) {
    if (!has_row()) break;
    auto& gradient = parameters_[index].second.mutable_grad();
    if (gradient.defined()) present_[index] = '1';
    pieces.push_back({gradient, parameters_[index].second.numel()});
    gradient.reset();
  }
  sums_.push(next_++, round_, std::move(pieces));
}

void GradientExchange::before_passes(bool completes_row) {
  check(!started_ || has_row(), ErrorKind::Internal,
        "[engine.ranks] a micro-batch more than this rank told the others of.");
  passing_ = true;
  completes_row_ = started_ && completes_row;
  times_.assign(parameters_.size(), 0);
  missing_.clear();
  for (const auto& bucket : buckets_) missing_.push_back(bucket.members.size());
}

/// Called by the backward pass.
void GradientExchange::accumulated(std::size_t parameter) {
  if (!passing_ || !started_) return;
  if (++times_[parameter] > 1) repeated_[parameter] = '1';
  if (!learned_) ready_.push_back(parameter);
  if (times_[parameter] > 1 || !completes_row_) return;
  --missing_[bucket_of_[parameter]];
  while (next_ < early_ && missing_[next_] == 0) push_next();
}

void GradientExchange::after_passes() {
  passing_ = false;
  if (!completes_row_) return;
  keep_late_gradients();
  complete_round();
  skip_rounds_of_others();
}

/// A gradient that came in more pieces than in the update from which the order was learned.
void GradientExchange::keep_late_gradients() {
  const c10::NoGradGuard no_gradients;
  for (std::size_t bucket = 0; bucket < next_; ++bucket) {
    for (const auto index : buckets_[bucket].members) {
      auto& gradient = parameters_[index].second.mutable_grad();
      if (!gradient.defined()) continue;
      too_late_[index] = too_late_[index].defined() ? too_late_[index] + gradient : gradient;
      gradient.reset();
    }
  }
}

void GradientExchange::flush() {
  passing_ = false;
  if (started_) keep_late_gradients();
  while (started_ && round_ < sums_.rounds()) complete_round();
}

Json GradientExchange::news() const {
  Json json = {{"present", present_}, {"too_late", Json::array()}};
  for (std::size_t i = 0; i < too_late_.size(); ++i) {
    if (too_late_[i].defined()) json["too_late"].push_back(i);
  }
  if (!learned_) json.update({{"ready", ready_}, {"repeated", repeated_}});
  return json;
}

void GradientExchange::finish(const std::vector<Json>& news) {
  const c10::NoGradGuard no_gradients;
  std::string present(parameters_.size(), '0'), too_late = present;
  for (const auto& rank : news) {
    merge_marks(present, rank["present"].get<std::string>());
    for (const auto& index : rank["too_late"]) too_late[index.get<std::size_t>()] = '1';
  }
  set_gradients(buckets_, present);
  started_ = false;
  if (too_late.find('1') != std::string::npos) add_late_gradients(too_late);
  if (!learned_) learn(news);
}

void GradientExchange::set_gradients(const std::vector<GradientBucket>& buckets,
                                     const std::string& present) {
  const auto sums = sums_.finish();
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (!sums[i].defined()) continue;
    const auto sum = sums[i].to(parameters_[buckets[i].members.front()].second.device());
    std::int64_t at = 0;
    for (const auto index : buckets[i].members) {
      const auto& parameter = parameters_[index].second;
      const auto part = sum.narrow(0, at, parameter.numel()).view(parameter.sizes());
      at += parameter.numel();
      if (present[index] == '0') continue;
      auto& gradient = parameter.mutable_grad();
      if (gradient.defined()) {
        gradient.add_(part);
      } else {  // in the parameter's own layout, as the backward pass makes them
        gradient = at::empty_like(parameter.detach()).copy_(part);
      }
    }
  }
}

/// From the next update on these wait for the end of the passes.
void GradientExchange::add_late_gradients(const std::string& late) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < late.size(); ++i) {
    if (late[i] == '1') order.push_back(i);
  }
  const auto buckets =
      make_buckets(parameters_, order, plan::bucket_bytes(gradient_bytes(parameters_)));
  std::vector<dist::SumBucket> sizes;
  for (const auto& bucket : buckets) sizes.push_back(bucket.size);
  sums_.begin(sizes, std::vector<dist::RowsOfRank>(ranks_.size(), {1, 0}));
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    std::vector<dist::SumPiece> pieces;
    for (const auto index : buckets[i].members) {
      pieces.push_back({too_late_[index], parameters_[index].second.numel()});
    }
    sums_.push(i, 0, std::move(pieces));
  }
  set_gradients(buckets, late);
  merge_marks(late_, late);
  std::vector<std::size_t> ready;
  for (std::size_t bucket = 0; bucket < early_; ++bucket) {
    ready.insert(ready.end(), buckets_[bucket].members.begin(), buckets_[bucket].members.end());
  }
  arrange(ready);
}

/// The order of rank 0, which computes in every update.
void GradientExchange::learn(const std::vector<Json>& news) {
  const auto ready = news.front()["ready"].get<std::vector<std::size_t>>();
  if (ready.empty()) return;
  for (const auto& rank : news) merge_marks(late_, rank["repeated"].get<std::string>());
  arrange(ready);
  learned_ = true;
}

}  // namespace ubique::engine
