// SPDX-License-Identifier: Apache-2.0
// Environment variables that must be set before LibTorch loads. On macOS the variable that lets
// unsupported Metal ops fall back to the CPU is read while the library loads, so setting it in main
// is too late: the program sets it and restarts itself once.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace ubique::device {

using Environment = std::function<std::optional<std::string>(const std::string&)>;

/// Variables to set before restarting; empty = no restart needed. Pure.
std::map<std::string, std::string> restart_environment(const std::string& platform,
                                                       const Environment& environment);

/// Called first in main. Does not return if the program restarts itself.
void prepare_process(char** arguments);

/// Sets the variables and replaces this process by itself; returns only if that failed.
void restart_process(char** arguments, const std::map<std::string, std::string>& variables);

}  // namespace ubique::device
