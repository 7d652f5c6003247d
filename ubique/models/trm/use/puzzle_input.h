// SPDX-License-Identifier: Apache-2.0
// Puzzles that a person wants solved: from text files, standard input, CSV and folders of data
// sets; and what came of them, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/models/trm/use/solver.h"

namespace ubique::trm {

struct AskedPuzzle {
  std::string name;  ///< "sudoku.txt, line 3", "data/sudoku4/test, example 7"
  data::PuzzleLayout layout;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> labels = {};  ///< empty if nobody knows the answer
  std::int32_t id = 0;
};

struct AskedPuzzles {
  std::vector<AskedPuzzle> puzzles;
  std::vector<std::string> refused;  ///< why each other one is left out
};

struct AskedOptions {
  std::string set;         ///< of a folder: "test", "train"; empty = test where there is one
  std::int64_t limit = 0;  ///< so many of each input; 0 = all
};

/// What `config`'s network can take of these inputs ("-" is standard input). A puzzle that cannot
/// be read, breaks the rules or is of another size is refused; Input error if all are.
AskedPuzzles read_asked(const std::vector<std::string>& inputs, const TrmConfig& config,
                        const AskedOptions& options);

struct AnsweredPuzzle {
  Solved solved;
  std::optional<bool> valid = {};    ///< by the rules
  std::optional<bool> correct = {};  ///< by the label
};

AnsweredPuzzle answered(const AskedPuzzle& puzzle, Solved solved);

/// "#1 sudoku.txt, line 3: 4 steps, valid, sure", then the grid.
std::string answer_text(std::size_t number, const AskedPuzzle& puzzle,
                        const AnsweredPuzzle& answer);
/// input and solution (texts; arrays of tokens where there are none), valid, correct, steps, q,
/// confident.
Json answer_json(const AskedPuzzle& puzzle, const AnsweredPuzzle& answer);

}  // namespace ubique::trm
