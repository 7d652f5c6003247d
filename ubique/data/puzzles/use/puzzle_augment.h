// SPDX-License-Identifier: Apache-2.0
// One example for training: as it is stored, or as a random twin of it. Twins are made when they
// are asked for, so that a thousand puzzles do not become gigabytes of copies.
#pragma once

#include <cstdint>
#include <span>

#include "ubique/base/numbers/random.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

/// The example as stored, ignored labels as kIgnoredLabel; both spans have seq_len places. Returns
/// its puzzle id. Safe from several threads.
std::int32_t load_example(const PuzzleSet& set, std::int64_t example,
                          std::span<std::int32_t> inputs, std::span<std::int32_t> labels);

/// Whether puzzles of this kind have twins: sudokus (digits, bands, rows, stacks, columns,
/// transposed) and mazes (turned and mirrored). ARC's variants have puzzle ids of their own and are
/// in the set already.
bool has_twins(const PuzzleLayout& layout);

/// The same for a twin that `random` draws: it depends on the example and `random` alone. As
/// load_example() where there are no twins.
std::int32_t load_twin(const PuzzleSet& set, std::int64_t example, const Random& random,
                       std::span<std::int32_t> inputs, std::span<std::int32_t> labels);

}  // namespace ubique::data
