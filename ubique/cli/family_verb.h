// SPDX-License-Identifier: Apache-2.0
// Verbs that the families implement: `ubique VERB FAMILY [NAME]`. The commands come from the
// registry, so that a new family needs no edit here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ubique/cli/verb.h"
#include "ubique/engine/contract/family.h"

namespace ubique::cli {

/// The family's commands of that verb.
std::vector<engine::Command> family_commands(const engine::Family& family, const std::string& verb);

using FamilyRows =
    std::function<std::vector<engine::Command>(const engine::Family&, const std::string&)>;

/// A verb with one sub-command per family; `rows` gives a family's commands (most:
/// family_commands). `without_family` runs if no family is named.
Verb family_verb(std::string name, std::string summary, std::string description,
                 std::vector<Example> examples, FamilyRows rows = family_commands,
                 std::optional<engine::Command> without_family = std::nullopt);

}  // namespace ubique::cli
