// SPDX-License-Identifier: Apache-2.0
// Recognises the format of each entry and parses its turns.
#include "ubique/io/text/conversation.h"

#include <algorithm>
#include <optional>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::io {
namespace {

constexpr std::int64_t kLongestFile = 8LL << 30;

/// One entry of a file, with its position for messages: "chats.json entry 3".
struct Entry {
  const Json& json;
  std::string where;
};

/// The keys of a format with a list of turns.
struct TurnKeys {
  const char* list;
  const char* role;
  const char* text;
};

constexpr TurnKeys kTurnKeys[] = {{"conversations", "from", "value"},
                                  {"messages", "role", "content"}};

const std::string* text_of(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get_ptr<const std::string*>()
                                                     : nullptr;
}

std::optional<Role> parse_role(const std::string& name) {
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is_one_of({"user", "human", "prompter"})) return Role::User;
  if (is_one_of({"assistant", "gpt", "chatgpt", "bot", "model"})) return Role::Assistant;
  if (is_one_of({"system"})) return Role::System;
  return std::nullopt;
}

Conversation listed_turns(const Entry& entry, const Json& list, const TurnKeys& keys) {
  Conversation conversation;
  for (const auto& turn : list) {
    const auto number = conversation.turns.size() + 1;
    const auto* role = text_of(turn, keys.role);
    const auto* text = text_of(turn, keys.text);
    check(role != nullptr && text != nullptr, ErrorKind::Input,
          "[io.chat] {} turn {} lacks a text; expected \"{}\" and \"{}\", both texts.", entry.where,
          number, keys.role, keys.text);
    const auto known = parse_role(*role);
    check(known.has_value(), ErrorKind::Input,
          "[io.chat] {} turn {} has an unknown role; got '{}', expected user (human, "
          "prompter), assistant (gpt, chatgpt, bot, model) or system.",
          entry.where, number, printable(*role, 40));
    conversation.turns.push_back({*known, *text});
  }
  return conversation;
}

[[noreturn]] void refuse_entry(const Entry& entry) {
  std::vector<std::string> keys;
  if (entry.json.is_object()) {
    for (const auto& [key, value] : entry.json.items()) {
      keys.push_back("'" + printable(key, 40) + "'");
      if (keys.size() == 8) break;
    }
  }
  const auto got = !entry.json.is_object() ? std::string(entry.json.type_name())
                   : keys.empty()          ? std::string("no keys")
                                           : "the keys " + join(keys, ", ");
  fail(ErrorKind::Input,
       "[io.chat] {} is in none of the formats; got {}, expected \"conversations\" with \"from\" "
       "and \"value\" (ShareGPT), \"messages\" with \"role\" and \"content\" (OpenAssistant), or "
       "\"instruction\", \"output\" and perhaps \"input\" (Alpaca).",
       entry.where, got);
}

Conversation read_entry(const Entry& entry) {
  for (const auto& keys : kTurnKeys) {
    const auto list = entry.json.is_object() ? entry.json.find(keys.list) : entry.json.end();
    if (list != entry.json.end() && list->is_array()) return listed_turns(entry, *list, keys);
  }
  const auto* instruction = text_of(entry.json, "instruction");
  const auto* output = text_of(entry.json, "output");
  if (instruction == nullptr || output == nullptr) refuse_entry(entry);
  const auto* input = text_of(entry.json, "input");
  const auto question =
      input == nullptr || input->empty() ? *instruction : *instruction + "\n\n" + *input;
  return {{{Role::User, question}, {Role::Assistant, *output}}};
}

void add_entry(ConversationList& list, const Entry& entry) {
  auto conversation = read_entry(entry);
  if (conversation.turns.empty()) {
    ++list.empty;
  } else {
    list.conversations.push_back(std::move(conversation));
  }
}

void add_lines(ConversationList& list, std::string_view text, const std::string& where) {
  std::int64_t number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) continue;
    const auto position = fmt::format("{} line {}", where, number);
    const auto json = parse_json(line, position);
    add_entry(list, {json, position});
  }
}

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::System:
      return "system";
    case Role::User:
      return "user";
    case Role::Assistant:
      break;
  }
  return "assistant";
}

ConversationList parse_conversations(std::string_view text, const std::string& where) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  ConversationList list;
  const auto start = trim(text);
  if (!start.starts_with('[')) {
    add_lines(list, text, where);
    return list;
  }
  const auto root = parse_json(text, where);
  std::int64_t number = 0;
  for (const auto& entry : root) {
    add_entry(list, {entry, fmt::format("{} entry {}", where, ++number)});
  }
  return list;
}

ConversationList read_conversations(const std::vector<std::filesystem::path>& files) {
  ConversationList all;
  for (const auto& file : files) {
    auto list = parse_conversations(read_file(file, kLongestFile), file.string());
    std::move(list.conversations.begin(), list.conversations.end(),
              std::back_inserter(all.conversations));
    all.empty += list.empty;
  }
  check(!all.conversations.empty(), ErrorKind::Input,
        "[io.chat] no conversations; got {} files with {} empty entries.", files.size(), all.empty);
  return all;
}

}  // namespace ubique::io
