// SPDX-License-Identifier: Apache-2.0
// Reads and writes dataset.json, which describes a set without its arrays.
#pragma once

#include <filesystem>

#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

/// Input error that names the file, the key, what was got and what was expected.
PuzzleMetadata read_metadata(const std::filesystem::path& path);
Json metadata_json(const PuzzleSet& set);

}  // namespace ubique::data
