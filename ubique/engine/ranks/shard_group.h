// SPDX-License-Identifier: Apache-2.0
// Tensors laid out one after the other and cut into equal shares, one for each rank: parameters,
// their gradients, and what an optimizer keeps for them. A border may lie within a tensor.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ubique/dist/background_sum.h"
#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

/// A rank's part of a tensor.
struct Slice {
  std::size_t tensor = 0;            ///< index
  std::int64_t from = 0, count = 0;  ///< of its numbers, in the order of memory
  std::int64_t at = 0;               ///< its place in the share
};

class ShardGroup {
 public:
  /// Tensors of one dtype, each dense in memory; only names, shapes, layouts and dtype are kept.
  ShardGroup(const NamedTensors& tensors, int ranks);

  std::size_t count() const { return tensors_.size(); }
  const std::string& name(std::size_t tensor) const { return tensors_[tensor].name; }
  std::int64_t share() const { return share_; }  ///< numbers of each rank, the last ones unused
  std::vector<Slice> slices(int rank) const;

  /// The rank's slices of whole tensors, as views: (n), or (n, 1) of what has two dimensions or
  /// more, by which optimizers choose what decays. Named like the tensors.
  NamedTensors views(const std::vector<at::Tensor>& whole, int rank) const;
  /// The slices of those of `named` that are called like one of the tensors after the prefix, and
  /// have its shape; under the same names.
  NamedTensors views_of(const std::map<std::string, at::Tensor>& named, const std::string& prefix,
                        int rank) const;
  /// A rank's slices, one after the other: (share).
  at::Tensor pack(const std::vector<at::Tensor>& slices, int rank) const;
  /// The reverse, as views of the row, shaped as in views().
  NamedTensors unpack(const at::Tensor& row, int rank) const;
  /// Whole tensors as views of the shares of all ranks (ranks · share).
  std::vector<at::Tensor> join(const at::Tensor& rows) const;

  /// For a sum whose shares are these: the bucket, and a rank's row of it. An undefined gradient
  /// adds nothing.
  dist::SumBucket bucket() const;
  std::vector<dist::SumPiece> pieces(const std::vector<at::Tensor>& gradients) const;

 private:
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> sizes, strides;
    std::int64_t numbers = 0, start = 0;
  };
  at::Tensor shaped(const at::Tensor& flat, const Slice& slice) const;

  int ranks_;
  at::ScalarType dtype_;
  std::vector<Tensor> tensors_;
  std::int64_t length_ = 0, share_ = 0;
};

/// The shares of all ranks (ranks · share), where `mine` is; over a transport's own device.
at::Tensor gather_shares(dist::Transport& transport, const at::Tensor& mine, int ranks);

}  // namespace ubique::engine
