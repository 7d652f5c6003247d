// SPDX-License-Identifier: Apache-2.0
// Writes a folder of token documents, new or with documents added to it. Nothing changes under its
// name before finish(), and dataset.json changes last: a killed update leaves the old set readable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "ubique/base/files/file.h"
#include "ubique/data/code/code_set.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::data {

class CodeSetWriter {
 public:
  /// A new set in a folder that holds nothing else. `vocabulary` is the model's, at least that of
  /// the tokenizer. Usage error for a folder with a data set or other files.
  CodeSetWriter(std::filesystem::path folder, const io::Tokenizer& tokenizer,
                std::int64_t vocabulary);
  /// Adds to the set in the folder, whose header was read by the caller.
  CodeSetWriter(std::filesystem::path folder, CodeSetHeader header);
  ~CodeSetWriter();

  /// Input error for an id outside the vocabulary.
  void add(std::string_view split, const EncodedDocument& document);
  /// Commits all files; dataset.json gets the header's source, options, dropped and state.
  void finish();

  CodeSetHeader& header() { return header_; }

 private:
  struct Part;
  void open_files();
  void copy_counted();

  std::filesystem::path folder_;
  CodeSetHeader header_;
  std::unique_ptr<Part> train_, val_;
  std::unique_ptr<AtomicFile> lines_;
  std::string line_buffer_;
  std::string tokenizer_;  // tokenizer.json of a new set
};

/// A short text with what the set holds: documents and tokens of each split.
std::string code_set_summary(const CodeSetHeader& header);

}  // namespace ubique::data
