// SPDX-License-Identifier: Apache-2.0
// Chooses the examples of each batch exactly as the original's loader does; loads nothing. Training
// runs in iterations (the original's evaluation intervals): an iteration is a number of
// permutations of the groups, and each group contributes one of its puzzles, drawn uniformly.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ubique/data/numpy_random.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

struct PuzzleSamplerOptions {
  std::uint64_t seed = 0;
  std::int64_t global_batch = 768;
  std::int64_t epochs = 1;  ///< permutations of the groups in an iteration
};

/// A global batch; each process takes an equal slice of it.
struct PuzzleBatch {
  std::vector<std::int64_t> examples, puzzles;  ///< puzzles[i] contains examples[i]
};

/// One iteration of training, batch by batch. It depends on (options, iteration) only, so a run
/// resumes by creating it again and skipping the batches already done, which loads nothing.
class PuzzleIteration {
 public:
  /// `iteration` counts from 1. `choices` picks examples of a puzzle that has too many for the
  /// batch; the original leaves it unseeded, ours is seeded from seed and iteration. Usage error
  /// for options out of range. `set` must outlive this.
  PuzzleIteration(const PuzzleSet& set, const PuzzleSamplerOptions& options,
                  std::int64_t iteration);
  PuzzleIteration(const PuzzleSet& set, const PuzzleSamplerOptions& options, std::int64_t iteration,
                  NumpyTwister choices);

  /// Nothing once less than a whole batch is left; the remainder is dropped.
  std::optional<PuzzleBatch> next();
  std::int64_t position() const {
    return static_cast<std::int64_t>(next_group_);
  }  ///< groups taken
  const NumpyTwister& choices() const { return choices_; }

 private:
  const PuzzleSet& set_;
  std::int64_t batch_;
  NumpyPhilox random_;
  NumpyTwister choices_;
  std::vector<std::int32_t> order_;  // groups
  std::size_t next_group_ = 0;       // index into order_
};

/// Optimizer updates of a whole training as the original counts them: epochs * groups * mean
/// examples per puzzle / batch, rounded down.
std::int64_t planned_updates(const PuzzleMetadata& metadata, std::int64_t epochs,
                             std::int64_t global_batch);

}  // namespace ubique::data
