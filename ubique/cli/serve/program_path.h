// SPDX-License-Identifier: Apache-2.0
// Where this program's own file is: the server starts it for each job.
#pragma once

#include <string>

namespace ubique::cli {

/// Internal error if it cannot be found.
std::string program_path();

}  // namespace ubique::cli
