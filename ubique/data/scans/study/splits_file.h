// SPDX-License-Identifier: Apache-2.0
// Folds on disk, in the format arc-meshchop saves and reads: a study is divided once, and everybody
// compares on the same division.
#pragma once

#include <filesystem>

#include "ubique/data/scans/study/folds.h"

namespace ubique::data {

/// Atomic; the same bytes as arc-meshchop writes when `subject_ids` is empty. With them, one more
/// key lets the division be taken over by a cohort in another order.
void write_splits(const std::filesystem::path& path, const Splits& splits);

/// Input error for what is not such a file or divides wrongly: an index that does not exist, a
/// subject that is in two parts of one fold or tested by two.
Splits read_splits(const std::filesystem::path& path);

/// The same for a cohort. Where the file names its subjects, they are found by name; Input error
/// for one the cohort does not have, or has but the file does not. Where it does not, the number
/// must agree, and strata that differ are a warning: the order is probably another.
Splits read_splits(const std::filesystem::path& path, const Cohort& cohort);

}  // namespace ubique::data
