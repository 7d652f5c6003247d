// SPDX-License-Identifier: Apache-2.0
// Whole weights are new memory each time; in between a parameter is one NaN, seen from every place,
// so that whoever reads it without holding its block gets NaN and no old values.
#include "ubique/engine/ranks/sharded_weights.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/engine/step/nonfinite.h"

namespace ubique::engine {
namespace {

constexpr std::size_t kAhead = 1;  // blocks on their way, beside the one that is computed

std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const auto& parameter : parameters) gradients.push_back(parameter.grad());
  return gradients;
}

}  // namespace

ShardedWeights::ShardedWeights(const dist::World& world, HasBlocks& model, c10::Device device)
    : world_(world),
      model_(model),
      background_(std::make_shared<dist::Background>(world.beside(device), device)) {
  for (const auto& parameters : model.blocks()) {  // one whole copy at a time
    blocks_.push_back(split(parameters));
    set_empty(blocks_.size() - 1);
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) order_.push_back(i);
  for (std::size_t i = blocks_.size(); i-- > 1;) order_.push_back(i - 1);
  for (const auto& block : blocks_) {
    for (const auto& part : block) {
      for (std::size_t i = 0; i < part.group.count(); ++i) names_.insert(part.group.name(i));
    }
  }
  sums_.emplace(world.rank(), world.size(), background_);
  model_.set_block_weights(this);
}

ShardedWeights::~ShardedWeights() { model_.set_block_weights(nullptr); }

ShardedWeights::Block ShardedWeights::split(const NamedTensors& parameters) const {
  std::map<std::pair<bool, at::ScalarType>, NamedTensors> kinds;
  for (const auto& item : parameters) {
    kinds[{item.second.requires_grad(), item.second.scalar_type()}].push_back(item);
  }
  Block block;
  for (const auto& [kind, members] : kinds) {
    Part part{ShardGroup(members, world_.size()), {}, {}, {}, kind.first};
    part.nan = at::full({}, std::numeric_limits<double>::quiet_NaN(),
                        members.front().second.options().requires_grad(false));
    for (const auto& [name, parameter] : members) part.whole.push_back(parameter);
    for (const auto& [name, view] : part.group.views(part.whole, world_.rank())) {
      part.slices.push_back(view.clone());
    }
    block.push_back(std::move(part));
  }
  return block;
}

std::vector<OwnSlices> ShardedWeights::own_slices() const {
  std::vector<OwnSlices> all;
  for (const auto& block : blocks_) {
    for (const auto& part : block) {
      if (!part.trained) continue;
      OwnSlices own{part.group, {}};
      const auto slices = part.group.slices(world_.rank());
      for (std::size_t i = 0; i < slices.size(); ++i) {
        own.slices.emplace_back(part.group.name(slices[i].tensor), part.slices[i]);
      }
      all.push_back(std::move(own));
    }
  }
  return all;
}

NamedTensors ShardedWeights::sliced(const NamedTensors& whole) const {
  std::map<std::string, at::Tensor> named(whole.begin(), whole.end());
  for (const auto& block : blocks_) {
    for (const auto& part : block) {
      for (const auto& [name, view] : part.group.views_of(named, "", world_.rank())) {
        named[name] = view;
      }
    }
  }
  return {named.begin(), named.end()};
}

// Gathering.

void ShardedWeights::request(std::size_t block) {
  const auto rows = std::make_shared<std::vector<at::Tensor>>();
  const auto job = background_->push([this, block, rows](dist::Transport& transport) {
    for (const auto& part : blocks_[block]) {
      const auto mine = part.group.pack(part.slices, world_.rank()).to(background_->device());
      rows->push_back(gather_shares(transport, mine, world_.size()));
    }
  });
  coming_.push_back({block, job, rows});
}

void ShardedWeights::request_ahead() {
  while (requested_ < order_.size() && requested_ < received_ + kAhead) {
    request(order_[requested_]);
    ++requested_;
  }
}

void ShardedWeights::receive(std::size_t block) {
  const c10::NoGradGuard no_gradients;
  check(!coming_.empty() && coming_.front().block == block, ErrorKind::Internal,
        "[engine.shards] block {} is computed out of order.", block);
  const auto coming = std::move(coming_.front());
  coming_.pop_front();
  background_->wait(coming.job);
  for (std::size_t i = 0; i < blocks_[block].size(); ++i) {
    const auto& part = blocks_[block][i];
    background_->keep_for_caller((*coming.rows)[i]);
    const auto whole = part.group.join((*coming.rows)[i]);
    for (std::size_t k = 0; k < whole.size(); ++k) part.whole[k].set_data(whole[k]);
  }
}

void ShardedWeights::set_empty(std::size_t block) {
  for (const auto& part : blocks_[block]) {
    for (const auto& parameter : part.whole) {
      parameter.set_data(part.nan.expand(parameter.sizes()));
    }
  }
}

// The passes of a round: forward through all blocks, then backward.

void ShardedWeights::begin_round() {
  in_round_ = true;
  backward_ = false;
  requested_ = received_ = pushed_ = 0;
  request_ahead();
}

std::shared_ptr<void> ShardedWeights::guard(std::size_t block) {
  return {static_cast<void*>(this), [this, block](void* /*self*/) { release(block); }};
}

std::shared_ptr<void> ShardedWeights::hold(std::size_t block) {
  if (all_whole_) return nullptr;
  check(in_round_, ErrorKind::Internal, "[engine.shards] block {} is computed in no round.", block);
  if (kept_ == block) {
    kept_.reset();
    backward_ = true;
    return guard(block);
  }
  receive(block);
  ++received_;
  auto held = guard(block);
  request_ahead();
  return held;
}

void ShardedWeights::release(std::size_t block) {
  if (!backward_ && block + 1 == blocks_.size()) {
    kept_ = block;
    return;
  }
  try {
    if (backward_) push_gradients(block, /*computed=*/true);
    set_empty(block);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void ShardedWeights::push_gradients(std::size_t block, bool computed) {
  check(block + 1 + pushed_ == blocks_.size(), ErrorKind::Internal,
        "[engine.shards] gradients of block {} out of order.", block);
  std::size_t bucket = 0;
  for (std::size_t i = block + 1; i < blocks_.size(); ++i) {
    for (const auto& part : blocks_[i]) bucket += part.trained ? 1 : 0;
  }
  std::vector<std::vector<dist::SumPiece>> rows;  // complete before the first leaves
  for (const auto& part : blocks_[block]) {
    if (!part.trained) continue;
    rows.emplace_back();
    if (computed) rows.back() = part.group.pieces(gradients_of(part.whole));
    for (const auto& parameter : part.whole) parameter.mutable_grad().reset();
  }
  ++pushed_;
  for (auto& row : rows) {
    if (summing_) sums_->push(bucket++, round_, std::move(row));
  }
}

void ShardedWeights::skip_next() {
  const auto block = order_[received_];
  receive(block);
  set_empty(block);
  ++received_;
  request_ahead();
}

void ShardedWeights::end_round() {
  in_round_ = false;
  request_ahead();
  if (kept_) set_empty(*std::exchange(kept_, std::nullopt));
  // In the order in which the passes exchange: forward, then each block before its gradients.
  while (received_ < blocks_.size()) skip_next();
  while (pushed_ < blocks_.size()) {
    if (received_ < blocks_.size() + pushed_) skip_next();
    push_gradients(blocks_.size() - 1 - pushed_, /*computed=*/false);
  }
  ++round_;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// Updates.

void ShardedWeights::begin(const std::vector<std::int64_t>& micro_batches) {
  std::vector<dist::SumBucket> buckets;
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    for (const auto& part : blocks_[i]) {
      if (part.trained) buckets.push_back(part.group.bucket());
    }
  }
  std::vector<dist::RowsOfRank> ranks;
  for (const auto count : micro_batches) ranks.push_back({count, 0});
  sums_->begin(std::move(buckets), std::move(ranks), dist::SumResult::OwnShare);
  summing_ = true;
  round_ = 0;
}

void ShardedWeights::finish() {
  const auto sums = sums_->finish();
  summing_ = false;
  std::size_t bucket = 0;
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    for (auto& part : blocks_[i]) {
      if (!part.trained) continue;
      const auto& sum = sums[bucket++];
      if (!sum.defined() || part.slices.empty()) continue;
      const auto row = sum.to(part.slices.front().device());
      const auto gradients = part.group.unpack(row, world_.rank());
      for (std::size_t k = 0; k < gradients.size(); ++k) {
        part.slices[k].mutable_grad() = gradients[k].second;
      }
    }
  }
}

void ShardedWeights::discard() {
  if (std::exchange(summing_, false)) sums_->finish();
}

at::Tensor ShardedWeights::norm_with(const at::Tensor& norm) const {
  NamedTensors slices;
  for (const auto& own : own_slices()) {
    slices.insert(slices.end(), own.slices.begin(), own.slices.end());
  }
  const auto mine = gradient_norm(slices);
  const double value = mine.defined() ? mine.item<double>() : 0;
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  double sum = norm.defined() ? std::pow(norm.item<double>(), 2) : 0;
  for (const auto& text : world_.gather(bytes)) {
    double other = 0;
    std::memcpy(&other, text.data(), sizeof(other));
    sum += other * other;
  }
  return at::full({}, std::sqrt(sum), at::TensorOptions(at::kFloat).device(background_->device()));
}

// Whole weights for validation and checkpoints.

void ShardedWeights::gather_all() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    request(i);
    receive(i);
  }
  all_whole_ = true;
}

void ShardedWeights::release_all() {
  all_whole_ = false;
  for (std::size_t i = 0; i < blocks_.size(); ++i) set_empty(i);
}

NamedTensors ShardedWeights::collect() {
  NamedTensors all;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    request(i);
    receive(i);
    for (const auto& part : blocks_[i]) {
      for (std::size_t k = 0; k < part.whole.size() && part.trained && world_.is_first(); ++k) {
        const auto copy = part.whole[k].detach().to(at::kCPU).clone();
        all.emplace_back(part.group.name(k), copy);
      }
    }
    set_empty(i);
  }
  return all;
}

}  // namespace ubique::engine
