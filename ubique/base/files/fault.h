// SPDX-License-Identifier: Apache-2.0
// Fault injection for tests: named points in the code where the process can be killed or a full
// disk simulated. They do nothing unless the variable UBIQUE_FAULT (or arm_faults) names them.
#pragma once

#include <string>
#include <string_view>

namespace ubique {

/// Marks a fault point. UBIQUE_FAULT is a list "NAME:HIT=ACTION,...": at the HIT-th pass of NAME
/// (the first without HIT; NAME "*" counts the passes of all points together) the action is
///   kill    the process dies by SIGKILL, as from kill -9 or the out-of-memory killer
///   throw   an Internal error
///   enospc  an Input error, as from a full disk
/// Usage error for a list that cannot be parsed.
void fault_point(std::string_view name);

/// Sets the list for this process and restarts the counts; an empty list removes all faults.
void arm_faults(const std::string& list);

}  // namespace ubique
