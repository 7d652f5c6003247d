// SPDX-License-Identifier: Apache-2.0
// A command that another program started for somebody: it ends when that program does.
#pragma once

namespace ubique::cli {

/// If UBIQUE_PARENT names an open pipe, watches it: when its other end closes, the command is asked
/// to stop, as by SIGTERM, and ended after half a minute. A byte on the pipe asks it to stop, with
/// as much time as it needs; if the other end closes after that, it is ended at once.
void watch_parent();

}  // namespace ubique::cli
