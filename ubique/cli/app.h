// SPDX-License-Identifier: Apache-2.0
// The command line as a whole: built from the table of verbs, walked by help, completions and man.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "ubique/cli/verb.h"

namespace ubique::cli {

/// The parser with one sub-command per verb. `chosen` gets what to run once a verb was parsed.
std::unique_ptr<CLI::App> build_app(std::function<ExitCode()>& chosen);

/// Parses and runs; every error ends here as a message on stderr and an exit code.
ExitCode run(int argc, char** argv);

std::string version_text();  ///< "ubique 0.1.0" and build facts, several lines

/// Words that an option takes, for completions: those of --device, of a fixed set, or none.
std::vector<std::string> option_words(const CLI::Option& option);

}  // namespace ubique::cli
