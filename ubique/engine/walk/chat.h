// SPDX-License-Identifier: Apache-2.0
// `run --chat` of every family with a chat model: the options, where the tokenizer is, and the
// conversation on the terminal or one question with its reply. A family brings the decoder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ubique/engine/contract/request.h"
#include "ubique/nn/decode/chat_session.h"

namespace ubique::engine {

std::vector<Option> chat_options();

struct ChatSettings {
  nn::ChatOptions chat;
  std::string prompt, system, tokenizer;
  bool one_shot = false;  ///< --prompt was given
};

/// Reads the keys of chat_options(). Usage error for impossible values.
ChatSettings read_chat_settings(const Config& config);

/// --tokenizer, else MODEL/tokenizer or that of one of the three folders above it
/// (RUN/checkpoints/best has RUN/tokenizer). Input error that says where it was looked for.
std::filesystem::path find_tokenizer(const std::filesystem::path& model,
                                     const std::string& given = {});

/// One question and its reply if the settings have a prompt, else a conversation until `quit`,
/// `exit`, the end of the input or Ctrl-C; `/forget` starts over. Replies go to request.print as
/// they are generated. `schema` names the JSON document.
Outcome run_chat_session(nn::ChatSession& session, const Request& request,
                         const ChatSettings& settings, const std::string& schema);

}  // namespace ubique::engine
