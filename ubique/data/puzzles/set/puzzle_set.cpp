// SPDX-License-Identifier: Apache-2.0
// Building puzzle sets in memory, and their layouts.
#include "ubique/data/puzzles/set/puzzle_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::data {

std::string_view to_string(PuzzleKind kind) { return name_of(kPuzzleKinds, kind); }

PuzzleLayout infer_layout(std::int64_t seq_len, std::int64_t vocab_size) {
  if (seq_len == 81 && vocab_size == 11) return {PuzzleKind::Sudoku, 9, 9, 3, 3};
  if (seq_len == 900 && vocab_size == 6) return {PuzzleKind::Maze, 30, 30};
  if (seq_len == 900 && vocab_size == 12) return {PuzzleKind::Arc, 30, 30};
  return {};
}

std::int64_t PuzzleSet::puzzle_of(std::int64_t example) const {
  const auto after = std::upper_bound(puzzle_indices.begin(), puzzle_indices.end(), example);
  return after - puzzle_indices.begin() - 1;
}

PuzzleSet empty_puzzle_set(const PuzzleMetadata& metadata) {
  const bool wide = metadata.vocab_size > 255;
  return {.metadata = metadata,
          .inputs = TokenRows(metadata.seq_len, wide),
          .labels = TokenRows(metadata.seq_len, wide)};
}

void add_example(PuzzleSet& set, std::span<const std::int32_t> inputs,
                 std::span<const std::int32_t> labels) {
  set.inputs.append(inputs);
  set.labels.append(labels);
}

void end_puzzle(PuzzleSet& set, std::int32_t identifier) {
  set.puzzle_identifiers.push_back(identifier);
  set.puzzle_indices.push_back(set.examples());
}

void end_group(PuzzleSet& set) { set.group_indices.push_back(set.puzzles()); }

std::string describe(const PuzzleLayout& layout) {
  if (layout.rows == 0) return std::string(to_string(layout.kind));
  auto text = fmt::format("{} {}x{}", to_string(layout.kind), layout.rows, layout.cols);
  if (layout.box_rows > 0) text += fmt::format(", boxes {}x{}", layout.box_rows, layout.box_cols);
  return text;
}

Json layout_json(const PuzzleLayout& layout) {
  Json json;
  json["kind"] = to_string(layout.kind);
  json["rows"] = layout.rows;
  json["cols"] = layout.cols;
  if (layout.box_rows > 0) {
    json["box_rows"] = layout.box_rows;
    json["box_cols"] = layout.box_cols;
  }
  return json;
}

}  // namespace ubique::data
