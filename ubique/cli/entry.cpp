// SPDX-License-Identifier: Apache-2.0
// What start/main.cpp calls when this library is loaded.
#include "ubique/cli/app.h"

extern "C" int ubique_main(int argc, char** argv) {
  return static_cast<int>(ubique::cli::run(argc, argv));
}
