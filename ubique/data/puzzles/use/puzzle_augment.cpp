// SPDX-License-Identifier: Apache-2.0
// A twin is a new order of cells and, for sudokus, new names of digits; both rows get the same.
#include "ubique/data/puzzles/use/puzzle_augment.h"

#include <algorithm>
#include <vector>

#include "ubique/data/puzzles/set/dihedral.h"
#include "ubique/data/puzzles/sudoku/sudoku.h"

namespace ubique::data {
namespace {

/// Result cell i is the new name of the token at places[i].
struct TokenTwin {
  std::vector<std::size_t> places;
  std::vector<std::int32_t> names;  ///< of tokens below its size; the others keep theirs

  void apply(std::span<std::int32_t> tokens) const {
    const std::vector<std::int32_t> source(tokens.begin(), tokens.end());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto token = source[places[i]];
      const bool named = token >= 0 && static_cast<std::size_t>(token) < names.size();
      tokens[i] = named ? names[static_cast<std::size_t>(token)] : token;
    }
  }
};

TokenTwin sudoku_twin(const SudokuShape& shape, const Random& random) {
  const auto symmetry = random_symmetry(shape, random);
  TokenTwin twin{symmetry_places(shape, symmetry), {}};
  twin.names.push_back(0);
  for (int digit = 0; digit <= shape.size; ++digit) {
    twin.names.push_back(symmetry.digits[static_cast<std::size_t>(digit)] + 1);
  }
  return twin;
}

TokenTwin maze_twin(const PuzzleLayout& layout, const Random& random) {
  constexpr std::array<int, 4> kKeepShape{0, 2, 4, 5};
  const auto id = layout.rows == layout.cols ? static_cast<int>(random.below(0, 8))
                                             : kKeepShape[random.below(0, kKeepShape.size())];
  return {dihedral_places(
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

bool has_twins(const PuzzleLayout& layout) {
  return layout.kind == PuzzleKind::Sudoku || layout.kind == PuzzleKind::Maze;
}

std::int32_t load_twin(const PuzzleSet& set, std::int64_t example, const Random& random,
                       std::span<std::int32_t> inputs, std::span<std::int32_t> labels) {
  const auto id = load_example(set, example, inputs, labels);
  const auto& layout = set.metadata.layout;
  if (!has_twins(layout)) return id;
  const auto twin = layout.kind == PuzzleKind::Sudoku ? sudoku_twin(sudoku_shape(layout), random)
                                                      : maze_twin(layout, random);
  twin.apply(inputs);
  twin.apply(labels);
  return id;
}

}  // namespace ubique::data
