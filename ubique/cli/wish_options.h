// SPDX-License-Identifier: Apache-2.0
// The flags that influence the plan (--dtype, --memory, --batch, ...): the same on plan, train, run
// and evaluate.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "ubique/base/config/config.h"
#include "ubique/engine/contract/request.h"

namespace ubique::cli {

/// Configuration keys and the values of their flags; empty = not given.
using FlagTexts = std::map<std::string, std::string>;

/// Adds --dtype, --memory, --batch and the rest; `texts` must outlive the parser.
void add_wish_options(CLI::App& app, FlagTexts& texts);

/// The same as rows, with --device and --fallback, for other front ends than the parser.
std::vector<engine::Option> wish_option_rows();

/// Variables that a family's users already set: ACE_PIPELINE_DTYPE of ACE-Step. Our own flags and
/// variables take precedence.
void add_family_variables(Config& config, const std::string& family);

/// Sets the flags that were given in the configuration.
void set_flags(Config& config, const FlagTexts& texts);

}  // namespace ubique::cli
