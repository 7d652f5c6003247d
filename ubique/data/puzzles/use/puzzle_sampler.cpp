// SPDX-License-Identifier: Apache-2.0
// Draws in the original's order: all permutations first, then for each group one number for its
// puzzle (none if it has only one) and one choice of examples.
#include "ubique/data/puzzles/use/puzzle_sampler.h"

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

std::vector<std::int32_t> group_order(NumpyPhilox& random, std::int64_t groups,
                                      std::int64_t epochs) {
  std::vector<std::int32_t> order;
  order.reserve(static_cast<std::size_t>(groups * epochs));
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto permutation = random.permutation(static_cast<std::int32_t>(groups));
    order.insert(order.end(), permutation.begin(), permutation.end());
  }
  return order;
}

void check_sampler(const PuzzleSet& set, const PuzzleSamplerOptions& options,
                   std::int64_t iteration) {
  check(options.global_batch >= 1 && options.epochs >= 1 && iteration >= 1, ErrorKind::Usage,
        "[data.puzzle_sampler] got batches of {}, {} epochs, iteration {}; expected at least 1 "
        "of each.",
        options.global_batch, options.epochs, iteration);
  check(set.groups() >= 1, ErrorKind::Input,
        "[data.puzzle_sampler] the set is empty; expected at least one group of puzzles.");
  constexpr std::int64_t kMost = std::int64_t{1} << 31U;
  check(set.groups() <= kMost / options.epochs, ErrorKind::Usage,
        "[data.puzzle_sampler] {} groups in {} epochs are too many for one iteration; expected "
        "fewer epochs between evaluations.",
        set.groups(), options.epochs);
}

std::uint32_t choice_seed(const PuzzleSamplerOptions& options, std::int64_t iteration) {
  return static_cast<std::uint32_t>(options.seed + static_cast<std::uint64_t>(iteration));
}

}  // namespace

PuzzleIteration::PuzzleIteration(const PuzzleSet& set, const PuzzleSamplerOptions& options,
                                 std::int64_t iteration)
    : PuzzleIteration(set, options, iteration, NumpyTwister(choice_seed(options, iteration))) {}

PuzzleIteration::PuzzleIteration(const PuzzleSet& set, const PuzzleSamplerOptions& options,
                                 std::int64_t iteration, NumpyTwister choices)
    : set_(set),
      batch_(options.global_batch),
      random_(options.seed + static_cast<std::uint64_t>(iteration)),
      choices_(std::move(choices)) {
  check_sampler(set, options, iteration);
  order_ = group_order(random_, set.groups(), options.epochs);
}

std::optional<PuzzleBatch> PuzzleIteration::next() {
  PuzzleBatch batch;
  std::int64_t size = 0;
  while (next_group_ < order_.size() && size < batch_) {
    const auto group = static_cast<std::size_t>(order_[next_group_++]);
    const auto puzzle = random_.integers(set_.group_indices[group], set_.group_indices[group + 1]);
    const auto first = set_.puzzle_indices[static_cast<std::size_t>(puzzle)];
    const auto examples = set_.puzzle_indices[static_cast<std::size_t>(puzzle) + 1] - first;
    const auto taken = std::min(examples, batch_ - size);
    for (const auto example : choices_.choice(examples, taken)) {
      batch.examples.push_back(first + example);
      batch.puzzles.push_back(puzzle);
    }
    size += taken;
  }
  if (size < batch_) return std::nullopt;
  return batch;
}

std::int64_t planned_updates(const PuzzleMetadata& metadata, std::int64_t epochs,
                             std::int64_t global_batch) {
  return static_cast<std::int64_t>(static_cast<double>(epochs * metadata.total_groups) *
                                   metadata.mean_puzzle_examples /
                                   static_cast<double>(global_batch));
}

}  // namespace ubique::data
