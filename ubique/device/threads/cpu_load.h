// SPDX-License-Identifier: Apache-2.0
// How many threads of other programs compete for the cores right now.
#pragma once

#include <optional>
#include <string>

namespace ubique::device {

/// Threads of other programs that run or wait for a core at this moment. Nothing where the system
/// does not tell (it is read from Linux's /proc).
std::optional<int> running_elsewhere();

/// The runnable threads of all programs in a line of /proc/loadavg ("0.20 0.18 0.12 3/811 4211":
/// 3).
std::optional<int> runnable_in(const std::string& loadavg);

/// Whether a line of /proc/PID/task/TID/stat tells of a runnable thread. The program's name in it
/// may contain anything, brackets too.
bool is_runnable(const std::string& stat);

}  // namespace ubique::device
