// SPDX-License-Identifier: Apache-2.0
// A set of puzzles in memory and in the original TRM's folders: FOLDER/{train,test}/dataset.json,
// SET__{inputs,labels,puzzle_identifiers,puzzle_indices,group_indices}.npy,
// FOLDER/identifiers.json. A group is one puzzle with its variants, a puzzle one or more examples,
// an example a row of tokens with a row of labels. Our own key `ubique` in dataset.json describes
// the tokens; the original's reader ignores it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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

inline constexpr std::int32_t kIgnoredLabel = -100;  ///< excluded from the loss

/// How the tokens of an example form a grid; decides which augmentation applies.
struct PuzzleLayout {
  PuzzleKind kind = PuzzleKind::Other;
  int rows = 0, cols = 0;          ///< 0: the tokens are not a grid
  int box_rows = 0, box_cols = 0;  ///< of sudokus
};

/// The layout of data sets without our key, from the sizes that the original's builders use.
PuzzleLayout infer_layout(std::int64_t seq_len, std::int64_t vocab_size);

struct PuzzleMetadata {
  std::int64_t pad_id = 0;
  std::optional<std::int64_t> ignore_label_id = 0;  ///< label that becomes kIgnoredLabel
  std::int64_t blank_identifier_id = 0;
  std::int64_t vocab_size = 0;
  std::int64_t seq_len = 0;
  std::int64_t num_puzzle_identifiers = 1;
  std::int64_t total_groups = 0;
  double mean_puzzle_examples = 1;
  std::int64_t total_puzzles = 0;  ///< as in the file; the original's sudoku builder counts groups
  std::vector<std::string> sets = {"all"};
  PuzzleLayout layout;  ///< from the key `ubique`, else infer_layout()
  Json provenance;      ///< the whole key `ubique`; null if there is none
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
  std::int64_t puzzle_of(std::int64_t example) const;  ///< index of its puzzle
};

struct PuzzleSplits {
  PuzzleSet train, test;
};

using PuzzleProgress = std::function<void(std::int64_t done)>;  ///< may throw to stop

/// An empty set, to be filled with add_example(), end_puzzle() and end_group().
PuzzleSet empty_puzzle_set(const PuzzleMetadata& metadata);
void add_example(PuzzleSet& set, std::span<const std::int32_t> inputs,
                 std::span<const std::int32_t> labels);
void end_puzzle(PuzzleSet& set, std::int32_t identifier);
void end_group(PuzzleSet& set);

/// Reads FOLDER/SPLIT, all its sets concatenated. Arrays may be u8, i32 or i64. Input error for any
/// inconsistency, with the file, what was found and what was expected.
PuzzleSet read_puzzle_set(const std::filesystem::path& folder, const std::string& split);
/// Several folders as one set. Puzzle ids are kept, as in the original, so two folders must not
/// give one id different names. Input error for incompatible folders.
PuzzleSet read_puzzle_sets(const std::vector<std::filesystem::path>& folders,
                           const std::string& split);
/// FOLDER/identifiers.json: the name of each puzzle id; empty if there is no such file.
std::vector<std::string> read_identifiers(const std::filesystem::path& folder);

/// Writes the arrays first and dataset.json last, so that an incomplete folder is not a data set.
/// Counts in dataset.json are those of the set. Tokens are u8 unless wide, all else is i32.
void write_puzzle_set(const std::filesystem::path& folder, const std::string& split,
                      const PuzzleSet& set);
void write_identifiers(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// Called by builders before they start. The same options may be written again; Usage error if the
/// folder holds anything else.
void claim_puzzle_folder(const std::filesystem::path& folder, const Json& provenance);

/// A whole folder: both sets (an empty test set is left out), identifiers.json, and other files by
/// name and content. Written to a temporary folder and renamed at the end, so that it exists
/// completely or not at all.
void write_puzzle_folder(const std::filesystem::path& folder, const PuzzleSplits& splits,
                         const std::vector<std::string>& identifiers,
                         const std::vector<std::pair<std::string, std::string>>& others = {});

/// "sudoku 9x9, boxes 3x3", for messages.
std::string describe(const PuzzleLayout& layout);
/// {"kind": ..., "rows": ...}: the start of a `ubique` key.
Json layout_json(const PuzzleLayout& layout);

}  // namespace ubique::data
