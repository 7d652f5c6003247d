// SPDX-License-Identifier: Apache-2.0
// A symmetry permutes the cells and, for sudokus, the digits; inputs and labels get the same one.
#include "ubique/data/puzzles/use/puzzle_augment.h"

#include <algorithm>
#include <vector>

#include "ubique/data/puzzles/set/dihedral.h"
#include "ubique/data/puzzles/sudoku/sudoku.h"

namespace ubique::data {
namespace {

/// result[i] = tokens_to[source[cells_from[i]]].
struct TokenSymmetry {
  std::vector<std::size_t> cells_from;
  std::vector<std::int32_t> tokens_to;  ///< tokens beyond its size stay as they are

  void apply(std::span<std::int32_t> tokens) const {
    const std::vector<std::int32_t> source(tokens.begin(), tokens.end());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto token = source[cells_from[i]];
      const bool mapped = token >= 0 && static_cast<std::size_t>(token) < tokens_to.size();
      tokens[i] = mapped ? tokens_to[static_cast<std::size_t>(token)] : token;
    }
  }
};

TokenSymmetry sudoku_symmetry(const SudokuShape& shape, const Random& random) {
  const auto symmetry = random_symmetry(shape, random);
  TokenSymmetry result{symmetry_sources(shape, symmetry), {}};
  result.tokens_to.push_back(0);
  for (int digit = 0; digit <= shape.size; ++digit) {
    result.tokens_to.push_back(symmetry.digits[static_cast<std::size_t>(digit)] + 1);
  }
  return result;
}

TokenSymmetry maze_symmetry(const PuzzleLayout& layout, const Random& random) {
  constexpr std::array<int, 4> kKeepShape{0, 2, 4, 5};
  const auto id = layout.rows == layout.cols ? static_cast<int>(random.below(0, 8))
                                             : kKeepShape[random.below(0, kKeepShape.size())];
  return {dihedral_sources(
              id, {static_cast<std::size_t>(layout.rows), static_cast<std::size_t>(layout.cols)}),
          {}};
}

void ignore_labels(const PuzzleMetadata& metadata, std::span<std::int32_t> labels) {
  if (!metadata.ignore_label_id) return;
  std::replace(labels.begin(), labels.end(), static_cast<std::int32_t>(*metadata.ignore_label_id),
               kIgnoredLabel);
}

}  // namespace

std::int32_t load_example(const PuzzleSet& set, std::int64_t example,
                          std::span<std::int32_t> inputs, std::span<std::int32_t> labels) {
  set.inputs.copy(example, inputs);
  set.labels.copy(example, labels);
  ignore_labels(set.metadata, labels);
  return set.puzzle_identifiers[static_cast<std::size_t>(set.puzzle_of(example))];
}

bool has_augmentation(const PuzzleLayout& layout) {
  return layout.kind == PuzzleKind::Sudoku || layout.kind == PuzzleKind::Maze;
}

std::int32_t load_augmented(const PuzzleSet& set, std::int64_t example, const Random& random,
                            std::span<std::int32_t> inputs, std::span<std::int32_t> labels) {
  const auto id = load_example(set, example, inputs, labels);
  const auto& layout = set.metadata.layout;
  if (!has_augmentation(layout)) return id;
  const auto symmetry = layout.kind == PuzzleKind::Sudoku
                            ? sudoku_symmetry(sudoku_shape(layout), random)
                            : maze_symmetry(layout, random);
  symmetry.apply(inputs);
  symmetry.apply(labels);
  return id;
}

}  // namespace ubique::data
