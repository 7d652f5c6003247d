// SPDX-License-Identifier: Apache-2.0
// Training and test sets of ARC tasks with their augmented variants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/data/puzzles/arc/arc.h"

namespace ubique::data {

struct ArcBuild {
  std::int64_t augment = 1000;  ///< variants of each task, besides the task itself
  std::uint64_t seed = 42;
  std::int64_t first_id = 1;  ///< puzzle ids below it stay blank: they belong to other folders
};

struct ArcData {
  PuzzleSplits splits;
  std::vector<std::string> identifiers;
  std::vector<ArcTask> tests;           ///< for test_puzzles.json
  std::vector<std::string> incomplete;  ///< tasks with too few distinct variants
  std::vector<std::string> unanswered;  ///< tasks with a test pair whose answer is unknown
};

/// The `ubique` key of dataset.json.
Json build_provenance(const ArcBuild& options, std::size_t learn, std::size_t test);
/// Tasks of `learn` go into the training set with all their pairs. Of the tasks of `test`, the
/// demonstration pairs go into the training set and the test pairs into the test set. Unknown
/// answers are never trained on, and are ignored labels in the test set. Training examples are
/// shifted to random positions, except one of each puzzle. A task's variants depend on its name and
/// the seed only. Usage error for options out of range, and for a task in both lists.
ArcData build_arc(const std::vector<ArcTask>& learn, const std::vector<ArcTask>& test,
                  const ArcBuild& options, const PuzzleProgress& progress = {});

}  // namespace ubique::data
