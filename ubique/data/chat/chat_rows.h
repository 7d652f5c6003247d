// SPDX-License-Identifier: Apache-2.0
// Rows to learn from: of each conversation one or more, each with the tokens that a model is given
// and, one place earlier, those that it is to say next.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ubique/io/text/chat_template.h"

namespace ubique::data {

/// What becomes of conversations that are longer than a row.
enum class LongChats {
  Windows,  ///< as many rows as their turns need, each from the start of a turn
  Cut,      ///< one row, the rest is lost
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

/// Usage error for a length that cannot be.
void validate(const RowOptions& options);

/// labels[i] is the token that follows inputs[i]; kIgnoredLabel where nothing is to be learnt.
struct ChatRow {
  std::vector<std::int32_t> inputs, labels;  ///< padded to the length
  std::int64_t tokens = 0;                   ///< labels that count
};

struct ChatRows {
  std::vector<ChatRow> rows;
  std::int64_t lost = 0;  ///< tokens that no row has
};

/// At least one row. Rows of windows begin with a person's turn where they can, so that an answer
/// stands with its question; only a turn longer than a row is cut.
ChatRows chat_rows(const io::Conversation& conversation, const io::ChatTemplate& tokens,
                   const RowOptions& options);

}  // namespace ubique::data
