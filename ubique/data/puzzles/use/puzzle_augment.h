// SPDX-License-Identifier: Apache-2.0
// Loads one example for training, as stored or randomly augmented. Augmentation happens on the fly,
// so that a thousand puzzles do not become gigabytes of copies.
#pragma once

#include <cstdint>
#include <span>

#include "ubique/base/numbers/random.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

/// The example as stored, ignored labels as kIgnoredLabel; both spans have seq_len elements.
/// Returns its puzzle id. Thread-safe.
std::int32_t load_example(const PuzzleSet& set, std::int64_t example,
                          std::span<std::int32_t> inputs, std::span<std::int32_t> labels);

/// Whether puzzles of this kind can be augmented: sudokus (digits, bands, rows, stacks, columns,
/// transposition) and mazes (rotations and reflections). ARC's variants have their own puzzle ids
/// and are stored in the set.
bool has_augmentation(const PuzzleLayout& layout);

/// As load_example(), with a random symmetry applied that depends on the example and `random` only.
/// Not augmented where has_augmentation() is false.
std::int32_t load_augmented(const PuzzleSet& set, std::int64_t example, const Random& random,
                            std::span<std::int32_t> inputs, std::span<std::int32_t> labels);

}  // namespace ubique::data
