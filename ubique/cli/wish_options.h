// SPDX-License-Identifier: Apache-2.0
// The flags that influence the plan (--dtype, --memory, --batch, ...): the same on plan, train, run
// and evaluate.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "ubique/base/config/config.h"

namespace ubique::cli {

/// Configuration keys and the values of their flags; empty = not given.
using FlagTexts = std::map<std::string, std::string>;

/// Adds --dtype, --memory, --batch and the rest; `texts` must outlive the parser.
void add_wish_options(CLI::App& app, FlagTexts& texts);

/// Sets the flags that were given in the configuration.
void set_flags(Config& config, const FlagTexts& texts);

}  // namespace ubique::cli
