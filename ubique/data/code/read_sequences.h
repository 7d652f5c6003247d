// SPDX-License-Identifier: Apache-2.0
// Reads what people have as token documents: token lists in JSON (lines, or one pretty-printed
// object), texts, prompts with completions and conversations in JSON lines, text and source files,
// folders of them, and shards of token ids (nanoGPT's raw uint16, llm.c's with a header). Files are
// read in one pass and never held whole, except texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ubique/data/code/token_documents.h"
#include "ubique/io/text/conversation.h"

namespace ubique::data {

/// Receives documents in order.
using DocumentSink = std::function<void(EncodedDocument&&)>;
/// Turns a conversation into documents: ids, and the length of the prompt without loss.
using ChatEncoder = std::function<std::vector<EncodedDocument>(const io::Conversation&)>;

struct ReadOptions {
  ChatEncoder chat = {};                   ///< empty: plain_chat_encoder()
  std::int64_t max_file_size = 2'000'000;  ///< bytes of a file in a folder; larger ones are skipped
};

/// What was read and what was left out.
struct ReadCounts {
  std::int64_t files = 0, documents = 0;
  std::int64_t repaired = 0;  ///< documents with broken UTF-8, replaced by U+FFFD
  std::map<std::string, std::int64_t> skipped = {};  ///< reason -> files or documents
};

/// One document per assistant turn: everything before it is the prompt. Uses the tokenizer's chat
/// markers where it has them, else the roles' names as text. The tokenizer must outlive it.
ChatEncoder plain_chat_encoder(const io::Tokenizer& tokenizer);

/// The same by the chat template of a model's folder (or of that of a file in it), where it has
/// one. Input error for a damaged template.
ChatEncoder folder_chat_encoder(const std::filesystem::path& path, const io::Tokenizer& tokenizer);

/// Input error that names file, place and id for an id outside 0 .. vocabulary - 1, for a declared
/// vocab_size that is another tokenizer's, and for files in none of the forms.
ReadCounts read_sequences_into(const std::vector<std::filesystem::path>& paths,
                               const io::Tokenizer& tokenizer, std::int64_t vocabulary,
                               const DocumentSink& sink, const ReadOptions& options = {});

/// All documents in memory. Input error if there are none.
CodeDocuments read_sequences(const std::vector<std::filesystem::path>& paths,
                             const io::Tokenizer& tokenizer, std::int64_t vocabulary,
                             const ReadOptions& options = {});

}  // namespace ubique::data
