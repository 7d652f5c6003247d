// SPDX-License-Identifier: Apache-2.0
// ARC tasks from JSON files and back.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ubique/data/puzzles/arc/arc.h"

namespace ubique::data {

/// A folder with one JSON file per task (named after it), or one file with all tasks. For a file
/// *_challenges.json the answers are read from *_solutions.json beside it. Sorted by name. Input
/// error that names file, task and pair.
std::vector<ArcTask> read_arc_tasks(const std::filesystem::path& path);
std::vector<ArcTask> parse_arc_tasks(const Json& json, const std::string& where);

/// {"name": {"train": [{"input": ..., "output": ...}], "test": [...]}}, as the original's
/// test_puzzles.json; tasks with unknown answers have "answers": "unknown".
Json arc_json(const std::vector<ArcTask>& tasks);
Json arc_grid_json(const ArcGrid& grid);  ///< [[0, 1], [2, 3]]

}  // namespace ubique::data
