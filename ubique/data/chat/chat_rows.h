// SPDX-License-Identifier: Apache-2.0
// Training rows for next-token prediction: a conversation becomes one or more rows of input tokens
// and labels, where each label is the token that follows its input.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ubique/io/text/chat_template.h"

namespace ubique::data {

/// What to do with conversations that are longer than a row.
enum class LongChats {
  Windows,  ///< several rows, each starting at a turn
  Cut,      ///< one row, the rest is dropped
};
/// Which tokens count in the loss.
enum class LossOn { All, Assistant };

LongChats parse_long_chats(std::string_view text);  ///< "windows", "cut"; Usage error
LossOn parse_loss_on(std::string_view text);        ///< "all", "assistant"; Usage error
std::string_view to_string(LongChats long_chats);
std::string_view to_string(LossOn loss_on);

struct RowOptions {
  std::int64_t length = 512;
  LongChats long_chats = LongChats::Windows;
  LossOn loss_on = LossOn::All;
};

/// Usage error for a length out of range.
void validate(const RowOptions& options);

/// labels[i] is the token that follows inputs[i], or kIgnoredLabel where it has no loss.
struct ChatRow {
  std::vector<std::int32_t> inputs, labels;  ///< padded to the length
  std::int64_t tokens = 0;                   ///< labels that count in the loss
};

struct ChatRows {
  std::vector<ChatRow> rows;
  std::int64_t lost = 0;  ///< dropped tokens, which are in no row
};

/// At least one row. With windows, rows start at a user turn where possible, so that an answer is
/// in the row of its question; only a turn longer than a row is cut.
ChatRows chat_rows(const io::Conversation& conversation, const io::MarkerTemplate& tokens,
                   const RowOptions& options);

}  // namespace ubique::data
