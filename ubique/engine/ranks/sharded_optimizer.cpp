// SPDX-License-Identifier: Apache-2.0
// Slices are views of the parameters' memory, so that the optimizer changes the parameters.
#include "ubique/engine/ranks/sharded_optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <map>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/engine/ranks/gradient_buckets.h"

namespace ubique::engine {
namespace {

// What is gathered at once; two copies of it exist meanwhile.
constexpr std::int64_t kPartBytes = std::int64_t{1} << 24;

std::vector<at::Tensor> values_of(const NamedTensors& named) {
  std::vector<at::Tensor> values;
  for (const auto& [name, tensor] : named) values.push_back(tensor);
  return values;
}

std::vector<std::size_t> numbered(std::size_t count) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  return order;
}

}  // namespace

NamedTensors ShardedOptimizer::all_parameters(NamedTensors whole,
                                              const std::vector<OwnSlices>& own) {
  for (const auto& item : own) whole.insert(whole.end(), item.slices.begin(), item.slices.end());
  return whole;
}

ShardedOptimizer::ShardedOptimizer(const dist::World& world, NamedTensors whole,
                                   std::vector<OwnSlices> own, const Make& make)
    : Optimizer(all_parameters(whole, own)), world_(world) {
  check(!whole.empty() || !own.empty(), ErrorKind::Usage,
        "[engine.optimizer] the network has no parameter to train; expected at least one that "
        "needs a gradient.");
  const auto& any = whole.empty() ? own.front().slices.front().second : whole.front().second;
  transport_ = world.beside(any.device());
  NamedTensors slices;
  for (const auto& bucket : make_buckets(whole, numbered(whole.size()), kPartBytes)) {
    NamedTensors members;
    for (const auto index : bucket.members) members.push_back(whole[index]);
    const ShardGroup group(members, world.size());
    const auto views = group.views(values_of(members), world.rank());
    slices.insert(slices.end(), views.begin(), views.end());
    parts_.push_back({group, values_of(members), values_of(views)});
  }
  for (auto& item : own) {
    slices.insert(slices.end(), item.slices.begin(), item.slices.end());
    parts_.push_back({item.group, {}, values_of(item.slices)});
  }
  check(!slices.empty(), ErrorKind::Usage,
        "[engine.shards] the network is too small to be split among so many processes; got {}, of "
        "which rank {} would have nothing to update. Use --shard none.",
        world.size(), world.rank());
  inner_ = make(std::move(slices));
}

void ShardedOptimizer::step(const at::Tensor& bad) {
  const c10::NoGradGuard no_gradients;
  collected_.clear();
  for (const auto& part : parts_) {
    if (part.whole.empty()) continue;  // their gradients are slices already
    const auto slices = part.group.slices(world_.rank());
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const auto& parameter = part.whole[slices[i].tensor];
      auto gradient = parameter.grad();
      if (!gradient.defined()) continue;
      if (gradient.strides() != parameter.strides()) {
        gradient = at::empty_like(parameter.detach()).copy_(gradient);
      }
      part.slices[i].mutable_grad() = at::as_strided(gradient, {slices[i].count}, {1},
                                                     gradient.storage_offset() + slices[i].from)
                                          .view(part.slices[i].sizes());
    }
  }
  inner_->step(bad);
  inner_->zero_grad();
  for (const auto& part : parts_) {
    if (!part.whole.empty()) share_weights(part);
  }
}

void ShardedOptimizer::share_weights(const Part& part) const {
  const auto mine = part.group.pack(part.slices, world_.rank()).to(part.whole.front().device());
  const auto all = part.group.join(gather_shares(*transport_, mine, world_.size()));
  for (std::size_t i = 0; i < all.size(); ++i) part.whole[i].detach().copy_(all[i]);
}

/// "exp_avg" and the like: what the optimizer keeps for each parameter.
std::vector<std::string> ShardedOptimizer::kinds() const {
  const auto state = inner_->state();
  const std::map<std::string, at::Tensor> named(state.begin(), state.end());
  const auto& slices = inner_->parameters();
  std::vector<std::string> kinds;
  for (const auto& [name, tensor] : state) {
    const auto ending = "." + slices.front().first;
    if (!name.ends_with(ending)) continue;
    const auto kind = name.substr(0, name.size() - ending.size());
    const bool of_each = std::ranges::all_of(slices, [&](const auto& slice) {
      const auto found = named.find(kind + "." + slice.first);
      return found != named.end() && found->second.sizes() == slice.second.sizes();
    });
    if (of_each) kinds.push_back(kind);
  }
  return kinds;
}

/// On the host: the states of all ranks together may not fit on rank 0's device.
void ShardedOptimizer::collect_state() {
  const c10::NoGradGuard no_gradients;
  const auto state = inner_->state();
  std::map<std::string, at::Tensor> mine(state.begin(), state.end());
  NamedTensors whole;
  for (const auto& kind : kinds()) {
    for (const auto& part : parts_) {
      std::vector<at::Tensor> slices;
      for (const auto& slice : part.group.slices(world_.rank())) {
        slices.push_back(mine.extract(kind + "." + part.group.name(slice.tensor)).mapped());
      }
      const auto row = part.group.pack(slices, world_.rank()).to(transport_->device());
      const auto rows = gather_shares(*transport_, row, world_.size());
      if (!world_.is_first()) continue;
      const auto joined = part.group.join(rows.cpu());
      for (std::size_t i = 0; i < joined.size(); ++i) {
        whole.emplace_back(kind + "." + part.group.name(i), joined[i]);
      }
    }
  }
  collected_.assign(mine.begin(), mine.end());  // what is left: counters
  collected_.insert(collected_.end(), whole.begin(), whole.end());
}

NamedTensors ShardedOptimizer::state() const { return collected_; }

/// Whole tensors of other shapes stay as they are: the optimizer refuses them by name.
void ShardedOptimizer::load(const NamedTensors& state) {
  std::map<std::string, at::Tensor> given(state.begin(), state.end());
  for (const auto& kind : kinds()) {
    for (const auto& part : parts_) {
      for (const auto& [name, view] : part.group.views_of(given, kind + ".", world_.rank())) {
        given[name] = view;
      }
    }
  }
  inner_->load({given.begin(), given.end()});
}

}  // namespace ubique::engine
