// SPDX-License-Identifier: Apache-2.0
// Reads conversations in the common JSON formats (ShareGPT, Alpaca, OpenAssistant), as one list or
// as JSON lines. Text only: chat_template.h encodes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io {

enum class Role { System, User, Assistant };

std::string_view to_string(Role role);  ///< "system", "user", "assistant"

/// One message of a conversation.
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
  std::int64_t empty = 0;  ///< skipped entries without turns
};

/// ShareGPT: "conversations" with "from" and "value"; OpenAssistant: "messages" with "role" and
/// "content"; Alpaca: "instruction", "input", "output". Formats may be mixed. Input error that
/// names the number of the entry, its keys, and the keys that each format needs.
ConversationList parse_conversations(std::string_view text, const std::string& where);
/// The conversations of all files, in order. Input error if there are none.
ConversationList read_conversations(const std::vector<std::filesystem::path>& files);

}  // namespace ubique::io
