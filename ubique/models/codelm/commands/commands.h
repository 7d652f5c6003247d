// SPDX-License-Identifier: Apache-2.0
// The rows of `ubique VERB codelm`.
#pragma once

#include <vector>

#include "ubique/engine/contract/request.h"

namespace ubique::codelm {

std::vector<engine::Command> codelm_commands();  ///< all of them

engine::Outcome run_codelm_chat(const engine::Request& request);    ///< run --chat
engine::Outcome run_codelm_worker(const engine::Request& request);  ///< run --worker
engine::Command run_command();       ///< complete, fill in the middle, chat
engine::Command evaluate_command();  ///< loss and perplexity on held-out documents
engine::Command demo_command();      ///< a small network from nothing

}  // namespace ubique::codelm
