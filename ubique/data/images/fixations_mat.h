// SPDX-License-Identifier: Apache-2.0
// Fixations in the MATLAB files of the known data sets; see fixations.h for their forms.
#pragma once

#include "ubique/data/images/fixations.h"

namespace ubique::data {

/// A file of one picture. Input error for one of many, and for another kind.
FixationList read_mat_looks(const std::filesystem::path& path);

}  // namespace ubique::data
