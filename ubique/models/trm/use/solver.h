// SPDX-License-Identifier: Apache-2.0
// Solves puzzles in batches of slots. With early halting, a slot that halts delivers its answer and
// takes the next puzzle, so no slot waits for a harder one; without, every puzzle takes all steps.
// If the device can record work, a step (or all steps of a batch) is one launch. Knows no files.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ubique/device/recording.h"
#include "ubique/device/threads/load_aware_threads.h"
#include "ubique/models/trm/net/slots.h"

namespace ubique::trm {

struct SolverOptions {
  std::int64_t slots = 64;  ///< puzzles at once
  std::int64_t steps = 0;   ///< maximum; 0 = halt_max_steps. More may solve more.
  bool early = true;        ///< a puzzle ends at its first positive halting logit
  bool record = false;      ///< record steps for replay (Plan::graph_capture)
  /// Called before every step, or before every batch that is one launch; false stops.
  std::function<bool()> should_continue = {};
};

/// The answer to a puzzle after `steps` steps.
struct Solved {
  std::vector<std::int32_t> tokens;
  std::int64_t steps = 0;
  double halt = 0;  ///< halting logit; above 0 = confident

  bool confident() const { return halt > 0; }
};

class Solver {
 public:
  /// Writes the seq_len tokens of a puzzle and returns its id.
  using Puzzles = std::function<std::int32_t(std::int64_t puzzle, std::span<std::int32_t> tokens)>;
  /// Receives an answer; false stops.
  using Take = std::function<bool(std::int64_t puzzle, const Solved& solved)>;

  /// The network on its device, which must outlive this, computed in `dtype`. Input error for a
  /// chat model, Usage error for options out of range.
  Solver(const Trm& network, at::ScalarType dtype, const SolverOptions& options);
  ~Solver();

  std::int64_t most_steps() const { return most_; }
  /// Solves puzzles 0 to count - 1. `take` receives each answer once, in the order they finish;
  /// `watch`, if given, every step of every puzzle. False if it was stopped; answers not delivered
  /// by then are lost.
  bool solve(std::int64_t count, const Puzzles& puzzles, const Take& take, const Take& watch = {});

 private:
  struct SlotBatch;       // slots with early halting: the inputs and outputs of a step
  struct FixedBatch;      // a batch whose puzzles all take all steps
  struct SlotAssignment;  // which puzzle is in which slot

  at::Tensor embed(const PuzzleBatch& puzzles) const;
  SlotBatch& slot_batch_for(std::int64_t count);
  FixedBatch& fixed_batch_for(std::int64_t rows);
  SlotBatch make_slot_batch(std::int64_t slots) const;
  SlotBatch compacted(const SlotBatch& batch, const SlotAssignment& assignment) const;
  FixedBatch make_fixed_batch(std::int64_t rows) const;
  void step(SlotBatch& batch) const;
  /// False if `should_continue` stopped it; there are no results then.
  bool all_steps(FixedBatch& batch, const std::function<bool()>& should_continue);
  bool should_continue() const { return !options_.should_continue || options_.should_continue(); }
  bool solve_stepwise(std::int64_t count, const Puzzles& puzzles, const Take& take,
                      const Take& watch);
  bool solve_whole(std::int64_t count, const Puzzles& puzzles, const Take& take);

  const Trm& network_;
  TrmWeights weights_;
  SolverOptions options_;
  std::int64_t most_;
  std::unique_ptr<SlotBatch> slot_batch_;  // of the size used last
  std::unique_ptr<FixedBatch> fixed_batch_;
  device::LoadAwareThreads threads_;
};

}  // namespace ubique::trm
