// SPDX-License-Identifier: Apache-2.0
// Verbs whose work the families do: `ubique VERB FAMILY [NAME]`. The rows come from the registry,
// so that a new family needs no edit here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ubique/cli/verb.h"
#include "ubique/engine/contract/family.h"

namespace ubique::cli {

/// The rows of a verb: every family's own commands of that name.
std::vector<engine::Command> family_commands(const engine::Family& family, const std::string& verb);

using FamilyRows =
    std::function<std::vector<engine::Command>(const engine::Family&, const std::string&)>;

/// A verb with one sub-command per family; `rows` gives a family's commands (most:
/// family_commands). `without_family` is what the verb does if nobody names one.
Verb family_verb(std::string name, std::string summary, std::string description,
                 std::vector<Example> examples, FamilyRows rows = family_commands,
                 std::optional<engine::Command> without_family = std::nullopt);

}  // namespace ubique::cli
