// SPDX-License-Identifier: Apache-2.0
// Places where a test may let the program die or the disk fill up. They do nothing unless the
// variable UBIQUE_FAULT (or arm_faults) names them.
#pragma once

#include <string>
#include <string_view>

namespace ubique {

/// Passes a place by its name. UBIQUE_FAULT is a list "NAME:HIT=ACTION,...": at the HIT-th pass of
/// NAME (1 without one; NAME "*" counts the passes of all places together) it does
///   kill    the process dies by SIGKILL, as from kill -9 or the out-of-memory killer
///   throw   an Internal error
///   enospc  an Input error, as from a full disk
/// and Usage error for a list that cannot be read.
void fault_point(std::string_view name);

/// The same list for this process, counted from now on; an empty one takes all faults away.
void arm_faults(const std::string& list);

}  // namespace ubique
