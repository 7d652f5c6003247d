// SPDX-License-Identifier: Apache-2.0
// The weights of a network's blocks, split among the ranks (ZeRO stage 3, FSDP): each rank keeps
// its slices. While one block is computed the next one is gathered, and gradients leave as soon as
// a block's are complete. All ranks compute their micro-batches in step, one in each round.
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ubique/dist/background_sum.h"
#include "ubique/engine/contract/block_weights.h"
#include "ubique/engine/ranks/sharded_optimizer.h"

namespace ubique::engine {

class ShardedWeights final : public BlockWeights {
 public:
  /// All ranks, with the same weights. The model's blocks are no longer whole.
  ShardedWeights(const dist::World& world, HasBlocks& model, c10::Device device);
  ~ShardedWeights() override;
  ShardedWeights(const ShardedWeights&) = delete;
  ShardedWeights& operator=(const ShardedWeights&) = delete;

  /// What is trained of this rank's slices, for an optimizer.
  std::vector<OwnSlices> own_slices() const;
  /// Parameters of blocks, trained or not.
  const std::set<std::string>& names() const { return names_; }
  /// The tensors with this rank's slices in place of whole ones.
  NamedTensors sliced(const NamedTensors& whole) const;

  std::shared_ptr<void> hold(std::size_t block) override;

  // All ranks, in every update: the number of micro-batches that each has; then so many rounds as
  // the most, each with a forward and a backward pass in between or with none; then the sums, as
  // gradients of the slices.
  void begin(const std::vector<std::int64_t>& micro_batches);
  void begin_round();
  /// Does what the passes left undone, for the others' sake.
  void end_round();
  void finish();
  /// Drops what an update summed up.
  void discard();

  /// All ranks: the norm of the gradients of all slices, together with one that all ranks have.
  at::Tensor norm_with(const at::Tensor& norm) const;

  /// All ranks: every block is whole until release_all().
  void gather_all();
  void release_all();
  /// All ranks: the trained parameters of all blocks, on rank 0's host; elsewhere nothing.
  NamedTensors collect();

 private:
  struct Part {  // of a block: parameters of one dtype, all trained or all frozen
    ShardGroup group;
    std::vector<at::Tensor> whole, slices;
    at::Tensor nan;  // one number, in place of whole weights
    bool trained = false;
  };
  using Block = std::vector<Part>;
  struct Coming {  // a block on its way
    std::size_t block = 0;
    std::int64_t job = 0;
    std::shared_ptr<std::vector<at::Tensor>> rows;  // of each part
  };

  Block split(const NamedTensors& parameters) const;
  void request(std::size_t block);
  void request_ahead();
  void receive(std::size_t block);
  void set_empty(std::size_t block);
  std::shared_ptr<void> guard(std::size_t block);
  void release(std::size_t block);
  void skip_next();
  void push_gradients(std::size_t block, bool computed);

  const dist::World& world_;
  HasBlocks& model_;
  std::shared_ptr<dist::Background> background_;
  std::vector<Block> blocks_;
  std::set<std::string> names_;
  std::vector<std::size_t> order_;  // of the gathers of a round: forward, then backward
  std::deque<Coming> coming_;
  bool all_whole_ = false;

  // of the round under way
  bool in_round_ = false, backward_ = false;
  std::size_t requested_ = 0, received_ = 0;  // of order_
  std::optional<std::size_t> kept_;           // between the passes: the last block
  std::size_t pushed_ = 0;                    // blocks, the last one first
  std::exception_ptr failure_;                // of a release, which must not throw

  // of the update under way
  bool summing_ = false;
  std::int64_t round_ = 0;
  std::optional<dist::BackgroundSum> sums_;
};

}  // namespace ubique::engine
