// SPDX-License-Identifier: Apache-2.0
// What start/main.cpp calls when this library is loaded.
#include "ubique/cli/app.h"
#include "ubique/cli/parent.h"

extern "C" int ubique_main(int argc, char** argv) {
  ubique::cli::watch_parent();
  return static_cast<int>(ubique::cli::run(argc, argv));
}
