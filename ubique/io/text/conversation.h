// SPDX-License-Identifier: Apache-2.0
// Conversations from the JSON files that people share: ShareGPT, Alpaca and OpenAssistant, as one
// list or a line each. Knows nothing of tokens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io {

enum class Role { System, User, Assistant };

std::string_view to_string(Role role);  ///< "system", "user", "assistant"

struct Turn {
  Role role = Role::User;
  std::string text;
  bool operator==(const Turn&) const = default;
};

struct Conversation {
  std::vector<Turn> turns;
};

struct ConversationList {
  std::vector<Conversation> conversations;
  std::int64_t empty = 0;  ///< entries without any turn, left out
};

/// ShareGPT: "conversations" of "from" and "value"; OpenAssistant: "messages" of "role" and
/// "content"; Alpaca: "instruction", "input", "output". Each entry may be of another kind. Input
/// error that names the entry by its number, the keys that it has and those that each kind needs.
ConversationList parse_conversations(std::string_view text, const std::string& where);
/// All files one after another. Input error if they hold no conversation at all.
ConversationList read_conversations(const std::vector<std::filesystem::path>& files);

}  // namespace ubique::io
