// SPDX-License-Identifier: Apache-2.0
// Simulated acquisition of a synthetic head: contrast, partial volume, bias field, noise.
#pragma once

#include <vector>

#include "ubique/data/scans/phantom/lesion.h"
#include "ubique/data/scans/phantom/phantom_grid.h"

namespace ubique::data {

/// Fills image, mask and tissue of `phantom` on the grid.
void take_scan(const PhantomOptions& options, const Protocol& protocol, const ScanGrid& grid,
               const Head& head, const std::vector<Lesion>& lesions, const Random& random,
               Phantom& phantom);

}  // namespace ubique::data
