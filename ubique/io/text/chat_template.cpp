// SPDX-License-Identifier: Apache-2.0
// Looks up the markers and encodes turns.
#include "ubique/io/text/chat_template.h"

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique::io {
namespace {

bool has_marker(const Tokenizer& tokenizer, const std::string& marker) {
  const auto found = tokenizer.find(marker);
  return found && tokenizer.is_special(*found);
}

void check_markers(const Tokenizer& tokenizer, const ChatMarkers& markers) {
  std::vector<std::string> missing;
  for (const auto& marker : markers.all()) {
    if (!has_marker(tokenizer, marker)) missing.push_back(marker);
  }
  check(missing.empty(), ErrorKind::Input,
        "[io.chat] the tokenizer has no chat markers; it lacks {}. `ubique data trm chat` writes "
        "one that has them, in FOLDER/tokenizer.",
        join(missing, ", "));
}

}  // namespace

std::vector<std::string> ChatMarkers::all() const {
  const auto& [system, user, assistant] = roles;
  return {pad,           end,          start,     separator, user.start, user.end, assistant.start,
          assistant.end, system.start, system.end};
}

void ChatTokens::add(std::int32_t id, bool assistant) {
  ids.push_back(id);
  by_assistant.push_back(assistant);
}

void ChatTokens::add(const ChatTokens& more) {
  ids.insert(ids.end(), more.ids.begin(), more.ids.end());
  by_assistant.insert(by_assistant.end(), more.by_assistant.begin(), more.by_assistant.end());
}

MarkerTemplate::MarkerTemplate(const Tokenizer& tokenizer, const ChatMarkers& markers)
    : ChatTemplate(tokenizer) {
  check_markers(tokenizer, markers);
  const auto id_of = [&](const std::string& marker) { return *tokenizer.find(marker); };
  pad_ = id_of(markers.pad);
  separator_ = id_of(markers.separator);
  end_ = id_of(markers.end);
  for (std::size_t role = 0; role < markers.roles.size(); ++role) {
    starts_[role] = id_of(markers.roles[role].start);
    ends_[role] = id_of(markers.roles[role].end);
  }
}

ChatTokens MarkerTemplate::turn(const Turn& turn) const {
  const bool assistant = turn.role == Role::Assistant;
  ChatTokens tokens;
  tokens.add(start_of(turn.role), false);
  for (const auto id : tokenizer().encode(turn.text)) tokens.add(id, assistant);
  tokens.add(end_of(turn.role), assistant);
  return tokens;
}

ChatTokens MarkerTemplate::turns(std::span<const Turn> turns, bool complete) const {
  ChatTokens tokens;
  for (const auto& each : turns) {
    if (tokens.size() > 0) tokens.add(separator_, false);
    tokens.add(turn(each));
  }
  if (complete) tokens.add(end_, false);
  return tokens;
}

std::vector<std::int32_t> MarkerTemplate::prompt(std::span<const Turn> turns) const {
  auto tokens = this->turns(turns, false);
  if (!turns.empty()) tokens.add(separator_, false);
  tokens.add(start_of(Role::Assistant), false);
  return tokens.ids;
}

}  // namespace ubique::io
