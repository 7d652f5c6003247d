// SPDX-License-Identifier: Apache-2.0
// Conversations as a data set in the original TRM's folders, with the tokenizer beside it:
// FOLDER/{train,test}/ and FOLDER/tokenizer/tokenizer.json. Each conversation is one puzzle.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "ubique/data/chat/chat_rows.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {

/// Learns a vocabulary of `size` tokens, chat markers included, from all texts.
io::TokenizerModel learn_chat_tokenizer(const std::vector<io::Conversation>& conversations,
                                        std::int64_t size);

struct ChatSetOptions {
  RowOptions rows = {};
  double split = 0.95;  ///< share of the conversations to learn from; the others test
  std::uint64_t seed = 42;
  bool shorten = false;  ///< rows no longer than the longest conversation needs
};

struct ChatSetPart {
  std::int64_t conversations = 0, rows = 0;
  std::int64_t tokens = 0;       ///< that count in the loss
  std::int64_t cut = 0;          ///< conversations that lost their end
  std::int64_t lost = 0;         ///< tokens of those
  std::int64_t characters = 0;   ///< bytes of all texts
  std::int64_t text_tokens = 0;  ///< that these take, without markers
};

struct ChatSetReport {
  ChatSetPart train, test;
  std::int64_t vocabulary = 0;
  std::int64_t length = 0;  ///< of a row
};

/// Splits by conversation. Markers that the tokenizer lacks are added to it. Usage error for a
/// split that leaves nothing to learn from, for more than fits into memory and for a folder that
/// holds something else.
ChatSetReport write_chat_set(const std::filesystem::path& folder,
                             const std::vector<io::Conversation>& conversations,
                             io::TokenizerModel tokenizer, const ChatSetOptions& options);

/// Whether a set was made by write_chat_set().
bool is_chat_set(const PuzzleMetadata& metadata);
/// Copies FOLDER/tokenizer, if there is one, to where it is not yet: TARGET/tokenizer.
void keep_chat_tokenizer(const std::filesystem::path& folder, const std::filesystem::path& target);

}  // namespace ubique::data
