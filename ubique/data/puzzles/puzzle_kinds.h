// SPDX-License-Identifier: Apache-2.0
// Names of the kinds of puzzles. Inside the room only.
#pragma once

#include "ubique/base/names.h"
#include "ubique/data/puzzles/puzzle_set.h"

namespace ubique::data {

inline constexpr NameTable<PuzzleKind, 4> kPuzzleKinds{{{PuzzleKind::Other, "other"},
                                                        {PuzzleKind::Sudoku, "sudoku"},
                                                        {PuzzleKind::Maze, "maze"},
                                                        {PuzzleKind::Arc, "arc"}}};

}  // namespace ubique::data
