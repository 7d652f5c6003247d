// SPDX-License-Identifier: Apache-2.0
// Folds on disk, in arc-meshchop's format: a study is split once and all runs use the same folds.
#pragma once

#include <filesystem>

#include "ubique/data/scans/study/folds.h"

namespace ubique::data {

/// Atomic. The same bytes as arc-meshchop writes when `subject_ids` is empty; otherwise one more
/// key names the subjects, so that the folds also apply to a cohort in another order.
void write_splits(const std::filesystem::path& path, const Splits& splits);

/// Input error for another kind of file or inconsistent folds: an index out of range, a subject in
/// two parts of one fold or in the test parts of two folds.
Splits read_splits(const std::filesystem::path& path);

/// The folds applied to a cohort. If the file names its subjects they are matched by name, and the
/// names must agree (Input error). Otherwise the counts must agree, and differing strata are a
/// warning, as the order probably differs.
Splits read_splits(const std::filesystem::path& path, const Cohort& cohort);

}  // namespace ubique::data
