// SPDX-License-Identifier: Apache-2.0
// Label maps of several classes on the grid of a conformed scan.
#pragma once

#include "ubique/data/scans/conform/conform.h"

namespace ubique::data {

/// Like conform_mask, for labels 0 to classes - 1; two classes are a mask (> 0). Input error for a
/// value that is no such label.
LabelMap conform_labels(const Scan& labels, const Scan& image, const ConformTarget& target,
                        std::int64_t classes, int threads = 1);

}  // namespace ubique::data
