// SPDX-License-Identifier: Apache-2.0
// Puzzles to solve, read from text files, standard input, CSV and data set folders, and their
// answers as text and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/models/trm/use/solver.h"

namespace ubique::trm {

struct PuzzleInput {
  std::string name;  ///< "sudoku.txt, line 3", "data/sudoku4/test, example 7"
  data::PuzzleLayout layout;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> labels = {};  ///< empty if the answer is unknown
  std::int32_t id = 0;
};

struct PuzzleInputs {
  std::vector<PuzzleInput> puzzles;
  std::vector<std::string> refused;  ///< an error message for each puzzle left out
};

struct PuzzleInputOptions {
  std::string set;         ///< of a folder: "test", "train"; empty = test if there is one
  std::int64_t limit = 0;  ///< puzzles per input; 0 = all
};

/// Reads the puzzles of these inputs ("-" is standard input) that fit the network. A puzzle that
/// cannot be read, breaks the rules or is of another size is refused; Input error if it is the
/// only one, or the only input cannot be read.
PuzzleInputs read_puzzle_inputs(const std::vector<std::string>& inputs, const TrmConfig& config,
                                const PuzzleInputOptions& options);

struct PuzzleAnswer {
  Solved solved;
  std::optional<bool> valid = {};    ///< obeys the rules of the puzzle; none if it has none
  std::optional<bool> correct = {};  ///< equals the label; none without one
  /// More than one solution exists; none if that is not known, and for puzzles with a label.
  std::optional<bool> several = {};
};

PuzzleAnswer make_answer(const PuzzleInput& puzzle, Solved solved);

/// "#1 sudoku.txt, line 3: 4 steps, valid, sure", then the grid.
std::string answer_text(std::size_t number, const PuzzleInput& puzzle, const PuzzleAnswer& answer);
/// Keys input and solution (text, or an array of tokens if there is no text form), valid,
/// several_solutions (of a sudoku without a label), correct, steps, q, confident.
Json answer_json(const PuzzleInput& puzzle, const PuzzleAnswer& answer);
/// An array with step, cells (as `solution` in answer_json) and q for every step of a puzzle.
Json trace_json(const PuzzleInput& puzzle, const std::vector<Solved>& steps);

}  // namespace ubique::trm
