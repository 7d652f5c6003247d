// SPDX-License-Identifier: Apache-2.0
// Weights that the processes of a training split among themselves: a model gets them block by
// block, and has whole ones only while it computes with them.
#pragma once

#include <memory>
#include <vector>

#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

class BlockWeights {
 public:
  virtual ~BlockWeights() = default;
  /// The block's weights are whole while the result lives.
  virtual std::shared_ptr<void> hold(std::size_t block) = 0;
};

/// A model whose weights can be split.
class HasBlocks {
 public:
  virtual ~HasBlocks() = default;
  /// In the order of the forward pass: parameters that nothing reads but the computation of that
  /// block. Trained ones have their names in network().
  virtual std::vector<NamedTensors> blocks() = 0;
  /// From now on each block is computed by recompute() while these hold its weights; null: all are
  /// whole.
  virtual void set_block_weights(BlockWeights* weights) = 0;
};

}  // namespace ubique::engine
