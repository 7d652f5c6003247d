// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM as a question that long work asks between steps. The first one asks for a tidy
// end (what is finished is kept, a checkpoint is written); a second one ends the program at once.
#pragma once

namespace ubique::cli {

void watch_interrupts();  ///< from now on; before that, signals end the program as usual
bool interrupted();

}  // namespace ubique::cli
