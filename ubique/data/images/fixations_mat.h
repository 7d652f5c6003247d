// SPDX-License-Identifier: Apache-2.0
// Fixations from the MATLAB files of the known data sets; fixations.h describes their variables.
#pragma once

#include "ubique/data/images/fixations.h"

namespace ubique::data {

/// A file with one picture. Input error for several pictures or another kind of file.
FixationList read_mat_fixations(const std::filesystem::path& path);

/// A file with many pictures, in its order: OSIE's (a cell array of structs with img and subjects
/// of fix_x and fix_y) or PASCAL-S's (a cell array of N x 2 rows and columns from 1).
std::vector<FixationList> read_fixation_lists(const std::filesystem::path& path);

}  // namespace ubique::data
