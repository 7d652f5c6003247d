// SPDX-License-Identifier: Apache-2.0
// Token documents in a folder, memory-mapped: dataset.json says what they are, SPLIT.bin holds the
// ids (2 or 4 bytes each, little endian), SPLIT.idx two 8-byte numbers per document (its first
// token, the length of its prompt), documents.jsonl where each comes from, tokenizer/tokenizer.json
// a copy of the tokenizer. dataset.json is written last and counts documents and tokens, so what an
// interrupted update left behind the counted ones is ignored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/data/code/token_documents.h"

namespace ubique::data {

inline constexpr const char* kTrainSplit = "train";
inline constexpr const char* kValSplit = "val";

/// The content of dataset.json.
struct CodeSetHeader {
  struct Split {
    std::int64_t documents = 0, tokens = 0;
    std::string digest = {};  ///< of the counted bytes of SPLIT.bin and SPLIT.idx
  };
  std::string tokenizer_hash = {};
  std::int64_t vocabulary = 0;
  std::int32_t end_of_text = 0;
  Split train = {}, val = {};
  Json source = Json::object();   ///< what it was made from: kind, repository, head
  Json options = Json::object();  ///< with which options
  Json dropped = Json::object();  ///< reason -> number of documents
  Json state = Json::object();    ///< what an update needs to go on

  const Split& split(std::string_view name) const { return name == kValSplit ? val : train; }
  Split& split(std::string_view name) { return name == kValSplit ? val : train; }
};

/// Whether the folder holds a data set of this form.
bool is_code_set(const std::filesystem::path& folder);
/// Input error for a file that is missing, damaged, or of a newer version.
CodeSetHeader read_code_set_header(const std::filesystem::path& folder);
std::string code_set_json(const CodeSetHeader& header);

/// Documents, tokens and digest of one split as the files have them, for the writer and the reader.
std::string split_digest(std::span<const std::byte> ids, std::span<const std::byte> index);

class CodeSet final : public TokenDocuments {
 public:
  /// Checks everything once: sizes, offsets that increase, prompts inside their documents, ids
  /// below the vocabulary, and the digest. Input error that says what is wrong; Usage error for a
  /// split that is neither train nor val.
  explicit CodeSet(const std::filesystem::path& folder, std::string_view split = kTrainSplit);

  std::int64_t size() const override { return part_.documents; }
  std::int64_t tokens() const override { return part_.tokens; }
  std::int64_t length(std::int64_t document) const override;
  std::int64_t prompt_length(std::int64_t document) const override;
  /// Reads documents.jsonl at the first call.
  DocumentInfo info(std::int64_t document) const override;
  void read(std::int64_t document, std::int64_t first, std::span<std::int32_t> out) const override;
  const std::string& tokenizer_hash() const override { return header_.tokenizer_hash; }
  std::int64_t vocabulary() const override { return header_.vocabulary; }
  std::int32_t end_of_text() const override { return header_.end_of_text; }
  const std::string& fingerprint() const override { return fingerprint_; }
  const CodeSetHeader& header() const { return header_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::int64_t index_value(std::int64_t document, std::size_t column) const;
  std::int64_t end_of(std::int64_t document) const;
  void check_sizes() const;
  void check_index() const;
  void check_ids() const;
  void find_lines() const;
  std::span<const std::byte> counted_ids() const;
  std::span<const std::byte> counted_index() const;

  std::filesystem::path folder_;
  std::string split_;
  CodeSetHeader header_;
  CodeSetHeader::Split part_;
  std::size_t width_;
  MappedFile ids_, index_;
  std::string fingerprint_;
  mutable std::once_flag lines_once_;
  mutable std::unique_ptr<MappedFile> lines_file_;
  mutable std::vector<std::string_view> lines_;  // of documents.jsonl, of this split
};

}  // namespace ubique::data
