// SPDX-License-Identifier: Apache-2.0
// The table of commands that the server offers, from the verbs and the registry of families.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ubique/serve/jobs/commands.h"

namespace ubique::cli {

std::vector<serve::CommandRow> command_rows();

/// The family of a run, a checkpoint or a file of the original systems; empty if none knows it.
std::string family_of_model(const std::filesystem::path& path);

}  // namespace ubique::cli
