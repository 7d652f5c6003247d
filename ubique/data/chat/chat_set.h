// SPDX-License-Identifier: Apache-2.0
// Conversations as a data set in the original TRM's folder layout, with the tokenizer:
// FOLDER/{train,test}/ and FOLDER/tokenizer/tokenizer.json. Each conversation is one puzzle.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "ubique/data/chat/chat_rows.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

/// Trains a tokenizer of `size` tokens, chat markers included, on all texts.
io::TokenizerModel train_chat_tokenizer(const std::vector<io::Conversation>& conversations,
                                        std::int64_t size);

struct ChatSetOptions {
  RowOptions rows = {};
  double split = 0.95;  ///< fraction of conversations for training; the others are for testing
  std::uint64_t seed = 42;
  bool shorten = false;  ///< reduce the row length to the longest conversation
};

struct ChatSetPart {
  std::int64_t conversations = 0, rows = 0;
  std::int64_t tokens = 0;       ///< labels that count in the loss
  std::int64_t cut = 0;          ///< conversations that were cut
  std::int64_t lost = 0;         ///< tokens dropped by that
  std::int64_t characters = 0;   ///< bytes of all texts
  std::int64_t text_tokens = 0;  ///< tokens of all texts, without markers
};

struct ChatSetReport {
  ChatSetPart train, test;
  std::int64_t vocabulary = 0;
  std::int64_t length = 0;  ///< tokens of a row
};

/// Splits by conversation. Chat markers that the tokenizer lacks are added to it. Usage error for a
/// split out of range, for more rows than fit into memory, and for a folder that holds other data.
ChatSetReport write_chat_set(const std::filesystem::path& folder,
                             const std::vector<io::Conversation>& conversations,
                             io::TokenizerModel tokenizer, const ChatSetOptions& options);

/// Whether a set was made by write_chat_set().
bool is_chat_set(const PuzzleMetadata& metadata);
/// Copies FOLDER/tokenizer to TARGET/tokenizer, unless the source is missing or the copy exists.
void copy_chat_tokenizer(const std::filesystem::path& folder, const std::filesystem::path& target);

}  // namespace ubique::data
