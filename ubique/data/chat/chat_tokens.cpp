// SPDX-License-Identifier: Apache-2.0
#include "ubique/data/chat/chat_tokens.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text.h"

namespace ubique::data {
namespace {

constexpr Role kRoles[] = {Role::System, Role::User, Role::Assistant};

std::string role_marker(Role role, bool end) {
  return fmt::format("<|{}{}|>", end ? "end" : "", to_string(role));
}

std::int32_t marker_id(const io::Tokenizer& tokenizer, const std::string& marker) {
  const auto found = tokenizer.find(marker);
  if (found && tokenizer.is_special(*found)) return *found;
  std::vector<std::string> missing;
  for (const auto& each : chat_markers()) {
    const auto known = tokenizer.find(each);
    if (!known || !tokenizer.is_special(*known)) missing.push_back(each);
  }
  fail(ErrorKind::Input,
       "[data.chat] the tokenizer has no chat markers; it lacks {}. `ubique data trm chat` writes "
       "one that has them, in FOLDER/tokenizer.",
       join(missing, ", "));
}

}  // namespace

const std::vector<std::string>& chat_markers() {
  static const std::vector<std::string> markers = {
      "<|pad|>",     "<|endoftext|>", "<|startoftext|>",  "<|sep|>",    "<|user|>",
      "<|enduser|>", "<|assistant|>", "<|endassistant|>", "<|system|>", "<|endsystem|>"};
  return markers;
}

void MarkedTokens::add(std::int32_t id, bool said) {
  ids.push_back(id);
  spoken.push_back(said);
}

void MarkedTokens::add(const MarkedTokens& more) {
  ids.insert(ids.end(), more.ids.begin(), more.ids.end());
  spoken.insert(spoken.end(), more.spoken.begin(), more.spoken.end());
}

ChatTokens::ChatTokens(const io::Tokenizer& tokenizer)
    : tokenizer_(&tokenizer),
      pad_(marker_id(tokenizer, "<|pad|>")),
      separator_(marker_id(tokenizer, "<|sep|>")),
      end_(marker_id(tokenizer, "<|endoftext|>")) {
  for (const auto role : kRoles) {
    starts_[static_cast<std::size_t>(role)] = marker_id(tokenizer, role_marker(role, false));
    ends_[static_cast<std::size_t>(role)] = marker_id(tokenizer, role_marker(role, true));
  }
}

MarkedTokens ChatTokens::turn(const Turn& turn) const {
  const bool said = turn.role == Role::Assistant;
  MarkedTokens tokens;
  tokens.add(start_of(turn.role), false);
  for (const auto id : tokenizer_->encode(turn.text)) tokens.add(id, said);
  tokens.add(end_of(turn.role), said);
  return tokens;
}

MarkedTokens ChatTokens::turns(std::span<const Turn> turns, bool whole) const {
  MarkedTokens tokens;
  for (const auto& each : turns) {
    if (tokens.size() > 0) tokens.add(separator_, false);
    tokens.add(turn(each));
  }
  if (whole) tokens.add(end_, false);
  return tokens;
}

std::vector<std::int32_t> ChatTokens::prompt(std::span<const Turn> turns) const {
  auto tokens = this->turns(turns, false);
  if (!turns.empty()) tokens.add(separator_, false);
  tokens.add(start_of(Role::Assistant), false);
  return tokens.ids;
}

}  // namespace ubique::data
