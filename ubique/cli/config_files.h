// SPDX-License-Identifier: Apache-2.0
// The configurations that come with the program, found by name from any folder: those in configs/
// here, those that `make install` put beside the program, those of the source tree it was built in.
#pragma once

#include <string>

namespace ubique::cli {

/// The path of configs/FOLDER/NAME.yaml. The original TRM's names are known too: "cfg_chat" is
/// chat.yaml. Usage error that lists the names, if there is none.
std::string named_config(const std::string& folder, const std::string& name);

/// What --config takes: a file's path, else one of those names.
std::string config_path(const std::string& folder, const std::string& given);

}  // namespace ubique::cli
