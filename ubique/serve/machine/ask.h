// SPDX-License-Identifier: Apache-2.0
// Asks another copy of this program for one of its JSON documents: a plan or a probe that goes
// wrong, or takes hold of a device, then does so in a process of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ubique/base/text/json.h"

namespace ubique::serve {

struct AskedAnswer {
  int code = 0;
  std::string out;    ///< standard output
  std::string error;  ///< the message, if the code is not 0
};

/// Runs it to its end, or for so many seconds; then it is ended and that is a Device error.
AskedAnswer ask_program(const std::string& program, const std::vector<std::string>& words,
                        double seconds);

/// The document, of exit code 0. Its error with its kind otherwise.
Json ask_json(const std::string& program, std::vector<std::string> words, double seconds);

}  // namespace ubique::serve
