// SPDX-License-Identifier: Apache-2.0
// A report as text tables: one row per op and layout, or one per probe. Prints nothing itself.
#pragma once

#include <string>
#include <vector>

#include "ubique/probe/core/verdict.h"

namespace ubique::probe {

struct Counts {
  int passed = 0, failed = 0, refused = 0, skipped = 0, slower_than_cpu = 0;
};
Counts count(const Report& report);

/// Op and layout by dtype; each cell is the worst case: "pass 3e-07/5e-06" is error/tolerance.
std::string summary_table(const Report& report);
/// Every verdict with error, tolerance, times and detail.
std::string full_table(const Report& report);
/// "id: why" for each failure.
std::vector<std::string> failures(const Report& report);
/// "612 passed, 0 failed, 2 refused", with skipped and slower-than-CPU ones if there are any.
std::string closing_line(const Report& report);

}  // namespace ubique::probe
