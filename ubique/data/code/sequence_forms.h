// SPDX-License-Identifier: Apache-2.0
// The readers behind read_sequences.h, one per form of file.
#pragma once

#include <filesystem>
#include <istream>
#include <string>

#include "ubique/data/code/read_sequences.h"
#include "ubique/data/code/text_encoder.h"

namespace ubique::data {

/// What all readers of one call share.
struct SequenceReading {
  const io::Tokenizer& tokenizer;
  std::int64_t vocabulary;
  std::int32_t end_of_text;
  TextEncoder encoder;
  ReadOptions options;
  const DocumentSink& sink;
  ReadCounts counts = {};

  /// Passes a document on, without end-of-text tokens at its end; an empty one is counted.
  void deliver(EncodedDocument&& document);
  /// Encodes a text; broken UTF-8 is replaced and counted.
  void deliver_text(std::string_view text, const DocumentInfo& info);
};

/// JSON values one after another: on lines, or spread over many.
void read_json_sequences(const std::filesystem::path& file, SequenceReading& reading);
/// The same from a stream; `where` names it.
void read_json_stream(std::istream& stream, const std::string& where, SequenceReading& reading);
/// llm.c's shards (header of 256 int32: 20240520, 1, count) and nanoGPT's files without a header.
/// Documents end or begin at end-of-text tokens.
void read_token_shard(const std::filesystem::path& file, SequenceReading& reading);

}  // namespace ubique::data
