// SPDX-License-Identifier: Apache-2.0
// From a finished attempt to an item of the library: the folder is renamed first, then one
// transaction registers it. A kill between the two is mended at the next start.
#pragma once

#include <optional>
#include <string>

#include "ubique/serve/worker/context.h"

namespace ubique::serve {

/// How an attempt ended, and what is known of its result.
struct Finished {
  std::string error_kind = {}, error_message = {};    ///< of a success with faults: exit code 3
  std::optional<std::string> outcome = std::nullopt;  ///< the command's JSON
};

/// Input error if the disk is full; then nothing has changed and it can be tried again.
void publish(WorkerContext& context, const Job& job, const std::filesystem::path& attempt,
             const Finished& finished);

/// Registers a result whose folder was renamed, but whose job still counts as running. False if
/// there is none.
bool register_left_over(WorkerContext& context, const Job& job);

/// Paths of the attempt in a command's JSON as references of the library.
std::string outcome_with_references(const std::string& outcome, std::int64_t job);

}  // namespace ubique::serve
