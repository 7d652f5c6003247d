// SPDX-License-Identifier: Apache-2.0
// What was wrong with a command line and what may have been meant: families, words and options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ubique::cli {

/// The command that was being parsed: `data meshnet synth`, not only `data`.
const CLI::App* innermost(const CLI::App& app);

/// "ubique data meshnet synth".
std::string command_line(const CLI::App& command);

/// Usage error for an unknown verb, family or command word, and for options before the family: the
/// parser would only call them extra arguments.
void check_words(const CLI::App& app, const std::vector<std::string>& words);

/// " Did you mean '--lr'?" for an option that is not known, or nothing. `known` is "--lr", ....
std::string option_hint(const std::string& word, const std::vector<std::string>& known);

/// The parser's own error as a Usage error, with what may have been meant.
[[noreturn]] void fail_parse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace ubique::cli
