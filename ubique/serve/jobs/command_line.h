// SPDX-License-Identifier: Apache-2.0
// From a request to the words of a command line: no shell ever sees them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ubique/serve/jobs/request.h"

namespace ubique::serve {

/// The path that a reference stands for. Input error if it is gone.
using ResolveReference = std::function<std::filesystem::path(const std::string& reference)>;

/// Without the program's name. The command runs in its attempt's folder and writes to "out" there.
std::vector<std::string> command_words(const JobRequest& request, const CommandRow& row,
                                       const ResolveReference& resolve, bool resume);

/// The same for people, with references in place of paths and quotes where a shell needs them.
std::string shown_command(const JobRequest& request, const CommandRow& row);

/// What a finished job is in the library; empty: it leaves an outcome and no files ("doctor").
std::string library_kind(const JobRequest& request);

/// The device that the job waits for: "cpu", "cuda:0"; `usual` is that of --device auto.
std::string lane_of(const JobRequest& request, const CommandRow& row, const std::string& usual);

}  // namespace ubique::serve
