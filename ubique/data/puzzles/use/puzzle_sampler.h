// SPDX-License-Identifier: Apache-2.0
// Which examples make which batch, exactly as the original's loader chooses them. It loads nothing.
// Training goes in iterations (the original's evaluation intervals): an iteration is so many
// permutations of the groups, and a group gives one of its puzzles, drawn evenly.
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

/// A whole batch; several processes each take an equal slice of it.
struct PuzzleChoice {
  std::vector<std::int64_t> examples, puzzles;  ///< puzzles[i] is that of examples[i]
};

/// One iteration of training, batch by batch. It starts from (options, iteration) alone, so a run
/// goes on by making it again and skipping what was done: skipping loads nothing.
class PuzzleIteration {
 public:
  /// `iteration` counts from 1. `choices` is the generator that picks examples of a puzzle which
  /// has too many for the batch; the original leaves it unseeded, so ours starts from seed and
  /// iteration. Usage error for options that cannot be. `set` must outlive this.
  PuzzleIteration(const PuzzleSet& set, const PuzzleSamplerOptions& options,
                  std::int64_t iteration);
  PuzzleIteration(const PuzzleSet& set, const PuzzleSamplerOptions& options, std::int64_t iteration,
                  NumpyTwister choices);

  /// Nothing once less than a whole batch is left: that rest is dropped.
  std::optional<PuzzleChoice> next();
  std::int64_t position() const { return static_cast<std::int64_t>(place_); }  ///< groups taken
  const NumpyTwister& choices() const { return choices_; }

 private:
  const PuzzleSet& set_;
  std::int64_t batch_;
  NumpyPhilox random_;
  NumpyTwister choices_;
  std::vector<std::int32_t> order_;  // groups
  std::size_t place_ = 0;
};

/// Updates of a whole training as the original counts them: epochs * groups * mean examples of a
/// puzzle / batch, rounded down.
std::int64_t planned_updates(const PuzzleMetadata& metadata, std::int64_t epochs,
                             std::int64_t global_batch);

}  // namespace ubique::data
