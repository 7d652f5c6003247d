// SPDX-License-Identifier: Apache-2.0
// Slices start at multiples of a cache line, so that vectorised loops over them compute each number
// as loops over the whole tensor do.
#include "ubique/engine/ranks/shard_group.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::engine {
namespace {

constexpr std::int64_t kGrain = 64;  // numbers

std::int64_t round_up(std::int64_t count) { return (count + kGrain - 1) / kGrain * kGrain; }

/// All numbers of a dense tensor in the order of memory, as a view.
at::Tensor in_memory_order(const at::Tensor& tensor) {
  return at::as_strided(tensor.detach(), {tensor.numel()}, {1});
}

}  // namespace

ShardGroup::ShardGroup(const NamedTensors& tensors, int ranks)
    : ranks_(ranks), dtype_(tensors.front().second.scalar_type()) {
  for (const auto& [name, tensor] : tensors) {
    check(tensor.is_non_overlapping_and_dense() && tensor.scalar_type() == dtype_,
          ErrorKind::Internal, "[engine.shards] '{}' has gaps in memory, or another dtype.", name);
    tensors_.push_back(
        {name, tensor.sizes().vec(), tensor.strides().vec(), tensor.numel(), length_});
    length_ += round_up(tensor.numel());
  }
  share_ = round_up((length_ + ranks - 1) / ranks);
}

std::vector<Slice> ShardGroup::slices(int rank) const {
  const auto first = rank * share_, last = first + share_;
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const auto& tensor = tensors_[i];
    const auto from = std::max(first, tensor.start);
    const auto to = std::min(last, tensor.start + tensor.numbers);
    if (from < to) slices.push_back({i, from - tensor.start, to - from, from - first});
  }
  return slices;
}

at::Tensor ShardGroup::shaped(const at::Tensor& flat, const Slice& slice) const {
  return tensors_[slice.tensor].sizes.size() >= 2 ? flat.unsqueeze(1) : flat;
}

NamedTensors ShardGroup::views(const std::vector<at::Tensor>& whole, int rank) const {
  NamedTensors views;
  for (const auto& slice : slices(rank)) {
    const auto flat = in_memory_order(whole[slice.tensor]).narrow(0, slice.from, slice.count);
    views.emplace_back(name(slice.tensor), shaped(flat, slice));
  }
  return views;
}

NamedTensors ShardGroup::views_of(const std::map<std::string, at::Tensor>& named,
                                  const std::string& prefix, int rank) const {
  const c10::NoGradGuard no_gradients;
  NamedTensors views;
  for (const auto& slice : slices(rank)) {
    const auto& tensor = tensors_[slice.tensor];
    const auto found = named.find(prefix + tensor.name);
    if (found == named.end() || found->second.sizes() != tensor.sizes) continue;
    auto whole = at::empty_strided(tensor.sizes, tensor.strides, found->second.options());
    whole.copy_(found->second);
    const auto flat = in_memory_order(whole).narrow(0, slice.from, slice.count);
    views.emplace_back(found->first, shaped(flat, slice));
  }
  return views;
}

at::Tensor ShardGroup::pack(const std::vector<at::Tensor>& slices, int rank) const {
  const c10::NoGradGuard no_gradients;
  const auto places = this->slices(rank);
  const auto options = slices.empty() ? at::TensorOptions(dtype_) : slices.front().options();
  auto row = at::zeros({share_}, options.requires_grad(false));
  for (std::size_t i = 0; i < places.size(); ++i) {
    row.narrow(0, places[i].at, places[i].count).copy_(slices[i].detach().view(-1));
  }
  return row;
}

NamedTensors ShardGroup::unpack(const at::Tensor& row, int rank) const {
  NamedTensors views;
  for (const auto& slice : slices(rank)) {
    views.emplace_back(name(slice.tensor), shaped(row.narrow(0, slice.at, slice.count), slice));
  }
  return views;
}

std::vector<at::Tensor> ShardGroup::join(const at::Tensor& rows) const {
  std::vector<at::Tensor> whole;
  for (const auto& tensor : tensors_) {
    whole.push_back(
        at::as_strided(rows, tensor.sizes, tensor.strides, rows.storage_offset() + tensor.start));
  }
  return whole;
}

dist::SumBucket ShardGroup::bucket() const { return {dtype_, ranks_ * share_}; }

std::vector<dist::SumPiece> ShardGroup::pieces(const std::vector<at::Tensor>& gradients) const {
  std::vector<dist::SumPiece> pieces;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const auto& [name, sizes, strides, numbers, start] = tensors_[i];
    auto gradient = gradients[i];
    if (gradient.defined()) {
      if (gradient.strides() != strides) {
        gradient = at::empty_strided(sizes, strides, gradient.options()).copy_(gradient);
      }
      gradient = in_memory_order(gradient);
    }
    pieces.push_back({gradient, numbers});
    if (round_up(numbers) > numbers) pieces.push_back({{}, round_up(numbers) - numbers});
  }
  return pieces;
}

at::Tensor gather_shares(dist::Transport& transport, const at::Tensor& mine, int ranks) {
  const auto sent = mine.to(transport.device());
  auto all = at::empty({ranks * sent.numel()}, sent.options());
  transport.gather(all, sent);
  return all.to(mine.device());
}

}  // namespace ubique::engine
