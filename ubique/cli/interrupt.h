// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM as a flag that long work checks between steps. The first signal asks for a
// clean stop (finished work is kept, a checkpoint is written); a second one ends the program at
// once.
#pragma once

namespace ubique::cli {

void watch_interrupts();  ///< from now on; before that, signals end the program as usual
bool interrupted();

}  // namespace ubique::cli
