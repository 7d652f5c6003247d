// SPDX-License-Identifier: Apache-2.0
// Tasks of ARC-AGI: grids, their variants (colours, rotations, reflections) and tokens. Tokens as
// in the original: 0 padding, 1 the edge below and right of a grid, 2 to 11 colours 0 to 9, on a
// canvas of 30 x 30 cells.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/data/puzzles/set/dihedral.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

inline constexpr std::size_t kArcSide = 30;

struct ArcGrid {
  GridSize size;
  std::vector<std::uint8_t> cells;  ///< colours 0 to 9, row by row

  bool operator==(const ArcGrid&) const = default;
  /// Size and cells as one string, unique to the grid.
  std::string key() const;
};

struct ArcPair {
  ArcGrid input, output;
  bool known = true;  ///< false: the output is unknown, and `output` is one black cell
};

struct ArcTask {
  std::string name;
  std::vector<ArcPair> train, test;
};

/// An augmentation of a task: colours permuted (black stays), then rotated or reflected.
struct ArcVariant {
  std::array<std::uint8_t, 10> colours{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  int dihedral = 0;

  bool operator==(const ArcVariant&) const = default;
};

ArcVariant random_variant(const Random& random);
ArcGrid apply_variant(const ArcVariant& variant, const ArcGrid& grid);
ArcGrid undo_variant(const ArcVariant& variant, const ArcGrid& grid);

/// "TASK|||t3|||0493826715".
std::string variant_name(const std::string& task, const ArcVariant& variant);
struct ArcName {
  std::string task;
  ArcVariant variant;
};
/// A name without "|||" is the task itself. Input error for a malformed variant name.
ArcName parse_variant_name(const std::string& name);

/// The grid with its upper left cell at (row, col), and its edges. Internal error if it does not
/// fit.
std::vector<std::int32_t> arc_tokens(const ArcGrid& grid, std::size_t row = 0, std::size_t col = 0);
/// The largest rectangle of colours in the top left corner; may be empty.
ArcGrid crop_arc(std::span<const std::int32_t> tokens);

PuzzleMetadata arc_metadata();

}  // namespace ubique::data
