// SPDX-License-Identifier: Apache-2.0
// The program's entry.
#include "ubique/cli/app.h"
#include "ubique/device/startup.h"

int main(int argc, char** argv) {
  ubique::device::prepare_process(argv);
  return static_cast<int>(ubique::cli::run(argc, argv));
}
