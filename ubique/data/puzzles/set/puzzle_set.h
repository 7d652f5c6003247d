// SPDX-License-Identifier: Apache-2.0
// A set of puzzles in memory and in the original TRM's folders: FOLDER/{train,test}/dataset.json,
// SET__{inputs,labels,puzzle_identifiers,puzzle_indices,group_indices}.npy,
// FOLDER/identifiers.json. A group is one puzzle with its variants, a puzzle one or more examples,
// an example a row of tokens with a row of labels. Our own key `ubique` in dataset.json says what
// the tokens are; the original's reader passes over it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/base/text/names.h"
#include "ubique/data/puzzles/set/token_rows.h"

namespace ubique::data {

enum class PuzzleKind { Other, Sudoku, Maze, Arc };
inline constexpr NameTable<PuzzleKind, 4> kPuzzleKinds{{{PuzzleKind::Other, "other"},
                                                        {PuzzleKind::Sudoku, "sudoku"},
                                                        {PuzzleKind::Maze, "maze"},
                                                        {PuzzleKind::Arc, "arc"}}};
std::string_view to_string(PuzzleKind kind);  ///< "other", "sudoku", "maze", "arc"

inline constexpr std::int32_t kIgnoredLabel = -100;  ///< what a loss passes over

/// How the tokens of an example stand on a grid; it decides which augmentation fits.
struct PuzzleLayout {
  PuzzleKind kind = PuzzleKind::Other;
  int rows = 0, cols = 0;          ///< 0: the tokens are no grid
  int box_rows = 0, box_cols = 0;  ///< of sudokus
};

/// What the original's builders make has no name; lengths and vocabularies tell.
PuzzleLayout usual_layout(std::int64_t seq_len, std::int64_t vocab_size);

struct PuzzleMetadata {
  std::int64_t pad_id = 0;
  std::optional<std::int64_t> ignore_label_id = 0;  ///< label that becomes kIgnoredLabel
  std::int64_t blank_identifier_id = 0;
  std::int64_t vocab_size = 0;
  std::int64_t seq_len = 0;
  std::int64_t num_puzzle_identifiers = 1;
  std::int64_t total_groups = 0;
  double mean_puzzle_examples = 1;
  std::int64_t total_puzzles = 0;  ///< as the file says; the original's sudokus count groups
  std::vector<std::string> sets = {"all"};
  PuzzleLayout layout;  ///< from `ubique`; else from lengths and vocabularies of the original
  Json made_with;       ///< the whole key `ubique`; null if there is none
};

struct PuzzleSet {
  PuzzleMetadata metadata;
  TokenRows inputs, labels;                           ///< labels as in the file
  std::vector<std::int32_t> puzzle_identifiers = {};  ///< of each puzzle
  std::vector<std::int64_t> puzzle_indices = {0};     ///< first example of each puzzle, and the end
  std::vector<std::int64_t> group_indices = {0};      ///< first puzzle of each group, and the end

  std::int64_t examples() const { return inputs.count(); }
  std::int64_t puzzles() const { return static_cast<std::int64_t>(puzzle_identifiers.size()); }
  std::int64_t groups() const { return static_cast<std::int64_t>(group_indices.size()) - 1; }
  std::int64_t puzzle_of(std::int64_t example) const;  ///< its number
};

struct PuzzleSplits {
  PuzzleSet train, test;
};

/// An empty set for rows of these: what builders fill by add_example(), end_puzzle(), end_group().
PuzzleSet empty_puzzle_set(const PuzzleMetadata& metadata);
void add_example(PuzzleSet& set, std::span<const std::int32_t> inputs,
                 std::span<const std::int32_t> labels);
void end_puzzle(PuzzleSet& set, std::int32_t identifier);
void end_group(PuzzleSet& set);

/// FOLDER/SPLIT, all its sets one after another. u8, i32 and i64 arrays. Input error for whatever
/// does not fit together: it names the file, what was found and what was expected.
PuzzleSet read_puzzle_set(const std::filesystem::path& folder, const std::string& split);
/// Several folders as one set. Puzzle ids stay as they are, as in the original, so two folders may
/// not give one id different names. Input error for folders that do not belong together.
PuzzleSet read_puzzle_sets(const std::vector<std::filesystem::path>& folders,
                           const std::string& split);
/// FOLDER/identifiers.json: the name of each puzzle id; empty if there is no such file.
std::vector<std::string> read_identifiers(const std::filesystem::path& folder);

/// Arrays first, dataset.json last: a folder that was not written to its end is no data set. Counts
/// in dataset.json are those of the set. Tokens are u8 unless wide, the rest is i32.
void write_puzzle_set(const std::filesystem::path& folder, const std::string& split,
                      const PuzzleSet& set);
void write_identifiers(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// For builders, before they begin. The same options may be written again; Usage error if the
/// folder holds anything else.
void claim_puzzle_folder(const std::filesystem::path& folder, const Json& made_with);

/// A whole folder: both sets (a test set without examples is left out), identifiers.json, and other
/// files by name and content. It is written beside its place and moved there at the end, so that it
/// is there whole or not at all.
void write_puzzle_folder(const std::filesystem::path& folder, const PuzzleSplits& splits,
                         const std::vector<std::string>& identifiers,
                         const std::vector<std::pair<std::string, std::string>>& others = {});

/// "sudoku 9x9, boxes 3x3": for people.
std::string describe(const PuzzleLayout& layout);
/// {"kind": ..., "rows": ...}: the start of a `ubique` key.
Json layout_json(const PuzzleLayout& layout);

}  // namespace ubique::data
