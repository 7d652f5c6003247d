// SPDX-License-Identifier: Apache-2.0
// Splits conversations into windows of whole turns and shifts tokens into labels.
#include "ubique/data/chat/chat_rows.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/names.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {
namespace {

constexpr NameTable<LongChats, 2> kLongChats{
    {{LongChats::Windows, "windows"}, {LongChats::Cut, "cut"}}};
constexpr NameTable<LossOn, 2> kLossOn{{{LossOn::All, "all"}, {LossOn::Assistant, "assistant"}}};

/// Turns [begin, end) of a conversation make one row.
struct TurnRange {
  std::size_t begin, end;
};

/// The end of the longest run of whole turns from `begin` that fits into `room` tokens, each with
/// the separator or end that follows it; at least one turn.
std::size_t turns_that_fit(const std::vector<io::ChatTokens>& turns, std::size_t begin,
                           std::size_t room) {
  std::size_t used = 0;
  auto end = begin;
  while (end < turns.size() && used + turns[end].size() + 1 <= room) {
    used += turns[end++].size() + 1;
  }
  return std::max(end, begin + 1);
}

std::vector<TurnRange> windows_of(const io::Conversation& conversation,
                                  const std::vector<io::ChatTokens>& turns, std::size_t room) {
  std::vector<TurnRange> windows;
  for (std::size_t begin = 0; begin < turns.size();) {
    auto end = turns_that_fit(turns, begin, room);
    // A question whose answer does not fit gets at least the start of the answer.
    const bool answered = end < turns.size() && conversation.turns[end].role == io::Role::Assistant;
    if (end == begin + 1 && conversation.turns[begin].role == io::Role::User && answered) ++end;
    windows.push_back({begin, end});
    if (end == turns.size()) break;
    // An answer that did not fit is repeated with its question in the next row.
    const bool answer = conversation.turns[end].role == io::Role::Assistant;
    const bool asked = end - 1 > begin && conversation.turns[end - 1].role == io::Role::User;
    begin = answer && asked ? end - 1 : end;
  }
  return windows;
}

ChatRow row_of(const io::ChatTokens& tokens, const io::MarkerTemplate& markers,
               const RowOptions& options) {
  const auto length = static_cast<std::size_t>(options.length);
  ChatRow row{std::vector<std::int32_t>(length, markers.pad()),
              std::vector<std::int32_t>(length, kIgnoredLabel), 0};
  for (std::size_t i = 0; i < length && i + 1 < tokens.size(); ++i) {
    row.inputs[i] = tokens.ids[i];
    const bool counts = options.loss_on == LossOn::All || tokens.by_assistant[i + 1];
    if (!counts) continue;
    row.labels[i] = tokens.ids[i + 1];
    ++row.tokens;
  }
  return row;
}

}  // namespace

LongChats parse_long_chats(std::string_view text) {
  return parse_name(kLongChats, "data.chat", "handling of long conversations", text);
}

LossOn parse_loss_on(std::string_view text) {
  return parse_name(kLossOn, "data.chat", "part for the loss", text);
}

std::string_view to_string(LongChats long_chats) { return name_of(kLongChats, long_chats); }

std::string_view to_string(LossOn loss_on) { return name_of(kLossOn, loss_on); }

void validate(const RowOptions& options) {
  constexpr std::int64_t kLongest = 1 << 16;  // attention over more exceeds any memory
  check(options.length >= 2 && options.length <= kLongest, ErrorKind::Usage,
        "[data.chat] --max-length is out of range; got rows of {} tokens, expected 2 to {}.",
        options.length, kLongest);
}

ChatRows chat_rows(const io::Conversation& conversation, const io::MarkerTemplate& tokens,
                   const RowOptions& options) {
  validate(options);
  std::vector<io::ChatTokens> turns;
  for (const auto& turn : conversation.turns) turns.push_back(tokens.turn(turn));
  const auto room = static_cast<std::size_t>(options.length) + 1;  // the last token is only a label
  const auto windows = options.long_chats == LongChats::Cut
                           ? std::vector<TurnRange>{{0, turns.size()}}
                           : windows_of(conversation, turns, room);
  ChatRows result;
  for (const auto& window : windows) {
    io::ChatTokens row;
    for (auto i = window.begin; i < window.end; ++i) {
      row.add(turns[i]);
      row.add(i + 1 == turns.size() ? tokens.end() : tokens.separator(), false);
    }
    result.lost += static_cast<std::int64_t>(row.size() > room ? row.size() - room : 0);
    result.rows.push_back(row_of(row, tokens, options));
  }
  return result;
}

}  // namespace ubique::data
