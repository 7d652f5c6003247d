// SPDX-License-Identifier: Apache-2.0
// What a person can do with conversations: make data of them, and have one.
#pragma once

#include <filesystem>
#include <vector>

#include "ubique/engine/family.h"

namespace ubique::trm {

engine::Command data_chat_command();  ///< data trm chat

/// `run trm --chat`: flags beside those of puzzles, and the whole of what it does.
std::vector<engine::Option> chat_options();
std::vector<std::pair<std::string, std::string>> chat_examples();
engine::Outcome run_chat(const engine::Request& request);

/// Where the tokenizer of a model lies: MODEL/tokenizer, or that of one of the three folders above
/// it (RUN/checkpoints/best has RUN/tokenizer). Input error that says where it was looked for.
std::filesystem::path find_chat_tokenizer(const std::filesystem::path& model);

}  // namespace ubique::trm
