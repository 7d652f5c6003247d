// SPDX-License-Identifier: Apache-2.0
// The flags through which a person has a say in the plan: the same on plan, train, run and
// evaluate.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "ubique/base/config/config.h"

namespace ubique::cli {

/// Configuration keys and the text of their flags; an empty text was not given.
using FlagTexts = std::map<std::string, std::string>;

/// Adds --dtype, --memory, --batch and the rest; `texts` must outlive the parser.
void add_wish_options(CLI::App& app, FlagTexts& texts);

/// Hands the flags that were given to the configuration.
void set_flags(Config& config, const FlagTexts& texts);

}  // namespace ubique::cli
