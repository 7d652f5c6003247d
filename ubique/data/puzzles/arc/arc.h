// SPDX-License-Identifier: Apache-2.0
// Tasks of ARC-AGI: read from JSON, turned into variants (colours, turns, places) and tokens, and
// back. Tokens as in the original: 0 padding, 1 the edge below and right of a grid, 2 to 11 colours
// 0 to 9, on 30 x 30 places.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/data/puzzles/set/dihedral.h"
#include "ubique/data/puzzles/set/puzzle_build.h"

namespace ubique::data {

inline constexpr std::size_t kArcSide = 30;

struct ArcGrid {
  GridSize size;
  std::vector<std::uint8_t> cells;  ///< colours 0 to 9, row by row

  bool operator==(const ArcGrid&) const = default;
  /// Size and cells as one text: equal for equal grids alone.
  std::string key() const;
};

struct ArcPair {
  ArcGrid input, output;
  bool known = true;  ///< false: nobody gave the output; one black cell is in its place
};

struct ArcTask {
  std::string name;
  std::vector<ArcPair> train, test;
};

/// A folder with a JSON file per task (its name is the task's), or one file with all of them;
/// beside a file that ends in _challenges.json, the answers are taken from the one in
/// _solutions.json. Sorted by name. Input error that names file, task and pair.
std::vector<ArcTask> read_arc_tasks(const std::filesystem::path& path);
/// {"name": {"train": [{"input": ..., "output": ...}], "test": [...]}}, as the original's
/// test_puzzles.json; tasks whose answers nobody gave say so under `answers`.
Json arc_json(const std::vector<ArcTask>& tasks);
Json arc_grid_json(const ArcGrid& grid);  ///< [[0, 1], [2, 3]]
std::vector<ArcTask> parse_arc_tasks(const Json& json, const std::string& where);

/// A way to see the same task: first new colours (black stays), then turned or mirrored.
struct ArcVariant {
  std::array<std::uint8_t, 10> colours{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  int dihedral = 0;

  bool operator==(const ArcVariant&) const = default;
};

ArcVariant random_variant(const Random& random);
ArcGrid apply_variant(const ArcVariant& variant, const ArcGrid& grid);
ArcGrid undo_variant(const ArcVariant& variant, const ArcGrid& grid);

/// "TASK|||t3|||0493826715"; the task itself has its own name.
std::string variant_name(const std::string& task, const ArcVariant& variant);
struct ArcName {
  std::string task;
  ArcVariant variant;
};
/// Input error for a name that only begins like one of a variant.
ArcName parse_variant_name(const std::string& name);

/// The grid at this place, with its edges. Internal error if it does not fit.
std::vector<std::int32_t> arc_tokens(const ArcGrid& grid, std::size_t row = 0, std::size_t col = 0);
/// The largest rectangle of colours in the top left corner; may be empty.
ArcGrid crop_arc(std::span<const std::int32_t> tokens);

struct ArcBuild {
  std::int64_t augment = 1000;  ///< variants of each task beside itself
  std::uint64_t seed = 42;
  std::int64_t first_id = 1;  ///< puzzle ids below it are blank: they belong to other folders
};

struct ArcData {
  PuzzleSplits splits;
  std::vector<std::string> identifiers;
  std::vector<ArcTask> tests;           ///< for test_puzzles.json
  std::vector<std::string> incomplete;  ///< tasks with fewer variants, as others look the same
  std::vector<std::string> unanswered;  ///< tasks with a test whose answer nobody gave
};

/// What goes under `ubique` into dataset.json.
Json build_note(const ArcBuild& options, std::size_t learn, std::size_t test);
/// Tasks to learn from go whole into the training set; of those to test with the shown pairs do,
/// and the asked ones make the test set. Answers that nobody gave are not learnt, and are ignored
/// labels of the test set. Training examples are put at random places, but for one of
/// each puzzle. A task's variants depend on its name and the seed alone. Usage error for options
/// out of range, and for a task that is in both lists.
ArcData build_arc(const std::vector<ArcTask>& learn, const std::vector<ArcTask>& test,
                  const ArcBuild& options, const PuzzleProgress& progress = {});

PuzzleMetadata arc_metadata();

}  // namespace ubique::data
