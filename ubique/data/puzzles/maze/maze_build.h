// SPDX-License-Identifier: Apache-2.0
// Generates training and test sets of mazes that all differ, even rotated or mirrored. The same
// options give the same sets on every machine and with any number of threads.
#pragma once

#include <cstdint>

#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

struct MazeBuild {
  int rows = 30, cols = 30;
  std::int64_t train = 1000, test = 1000;
  std::uint64_t seed = 42;
  std::int64_t min_path = -1;  ///< moves from start to goal; below 0: an eighth of the cells
};

/// The `ubique` key of dataset.json. Usage error for options out of range.
Json build_provenance(const MazeBuild& options);
/// Usage error for options out of range, and if not enough different mazes are found.
PuzzleSplits build_mazes(const MazeBuild& options, int threads = 1,
                         const PuzzleProgress& progress = {});

}  // namespace ubique::data
