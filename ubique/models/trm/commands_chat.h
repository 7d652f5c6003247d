// SPDX-License-Identifier: Apache-2.0
// What a person can do with conversations: make data of them, score a model on them, have one.
#pragma once

#include <filesystem>
#include <vector>

#include "ubique/engine/family.h"
#include "ubique/models/trm/model.h"

namespace ubique::trm {

engine::Command data_chat_command();  ///< data trm chat

/// `run trm --chat`: flags beside those of puzzles, and the whole of what it does.
std::vector<engine::Option> chat_options();
std::vector<std::pair<std::string, std::string>> chat_examples();
engine::Outcome run_chat(const engine::Request& request);

/// Which conversations `evaluate trm` is to score.
struct ChatSetChoice {
  std::filesystem::path folder;
  std::string set;         ///< "test" or "train"
  std::int64_t limit = 0;  ///< so many rows, spread over the set; 0 = all
};
engine::Outcome evaluate_chat(const engine::Request& request, TrmModel& model,
                              const ChatSetChoice& choice);

/// Where the tokenizer of a model lies: MODEL/tokenizer, or that of one of the three folders above
/// it (RUN/checkpoints/best has RUN/tokenizer). Input error that says where it was looked for.
std::filesystem::path find_chat_tokenizer(const std::filesystem::path& model);

}  // namespace ubique::trm
