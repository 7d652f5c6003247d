// SPDX-License-Identifier: Apache-2.0
// Token documents, the training data of code language models: a common interface for folders on
// disk (code_set.h) and for documents in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ubique/io/text/tokenizer.h"

namespace ubique::data {

/// Where a document comes from.
struct DocumentInfo {
  std::string path = {};    ///< of the file, in its repository or on disk
  std::string commit = {};  ///< hexadecimal; empty if none
  std::string kind = {};    ///< "file", "commit", "text", "tokens", "prompt", "chat"
  bool operator==(const DocumentInfo&) const = default;
};

/// One document as a reader makes it.
struct EncodedDocument {
  std::vector<std::int32_t> ids = {};  ///< without the end-of-text token
  std::int64_t prompt_length = 0;      ///< the first tokens, which carry no loss
  DocumentInfo info = {};
  bool no_secret = false;  ///< was searched for secrets (filter/secrets.h), and holds none
};

class TokenDocuments {
 public:
  virtual ~TokenDocuments() = default;

  virtual std::int64_t size() const = 0;    ///< number of documents
  virtual std::int64_t tokens() const = 0;  ///< of all documents together
  virtual std::int64_t length(std::int64_t document) const = 0;
  /// Number of leading tokens without loss; 0 = none.
  virtual std::int64_t prompt_length(std::int64_t document) const = 0;
  virtual DocumentInfo info(std::int64_t document) const = 0;
  /// Tokens from `first` on; the caller keeps the range inside the document. Thread-safe.
  virtual void read(std::int64_t document, std::int64_t first,
                    std::span<std::int32_t> out) const = 0;
  /// All tokens of a document, without an end-of-text token.
  std::vector<std::int32_t> document(std::int64_t document) const;

  virtual const std::string& tokenizer_hash() const = 0;
  virtual std::int64_t vocabulary() const = 0;         ///< every id is below
  virtual std::int32_t end_of_text() const = 0;        ///< what joins documents
  virtual const std::string& fingerprint() const = 0;  ///< changes with any token or boundary

 protected:
  TokenDocuments() = default;
  TokenDocuments(const TokenDocuments&) = default;
  TokenDocuments& operator=(const TokenDocuments&) = default;
  TokenDocuments(TokenDocuments&&) = default;
  TokenDocuments& operator=(TokenDocuments&&) = default;
};

/// Bytes of one stored token id: 2 if the vocabulary fits, else 4.
constexpr std::size_t token_width(std::int64_t vocabulary) { return vocabulary <= 65536 ? 2 : 4; }
/// Copies ids from their stored form (little endian, `width` bytes each).
void unpack_tokens(std::span<const std::byte> stored, std::size_t width,
                   std::span<std::int32_t> out);
/// Appends ids in their stored form.
void pack_tokens(std::span<const std::int32_t> ids, std::size_t width,
                 std::vector<std::byte>& stored);

/// Documents in memory.
class CodeDocuments final : public TokenDocuments {
 public:
  /// Input error for a tokenizer without an end-of-text token.
  CodeDocuments(const io::Tokenizer& tokenizer, std::int64_t vocabulary);

  /// Input error that names the document for an id outside the vocabulary.
  void add(const EncodedDocument& document);
  /// Those documents, in that order.
  CodeDocuments chosen(std::span<const std::int64_t> documents) const;

  std::int64_t size() const override { return static_cast<std::int64_t>(entries_.size()); }
  std::int64_t tokens() const override;
  std::int64_t length(std::int64_t document) const override;
  std::int64_t prompt_length(std::int64_t document) const override;
  DocumentInfo info(std::int64_t document) const override;
  void read(std::int64_t document, std::int64_t first, std::span<std::int32_t> out) const override;
  const std::string& tokenizer_hash() const override { return tokenizer_hash_; }
  std::int64_t vocabulary() const override { return vocabulary_; }
  std::int32_t end_of_text() const override { return end_of_text_; }
  /// Of what was added so far.
  const std::string& fingerprint() const override;

 private:
  struct Entry {
    std::int64_t first, prompt_length;
    DocumentInfo info;
  };
  std::int64_t end_of(std::int64_t document) const;

  std::string tokenizer_hash_;
  std::int64_t vocabulary_;
  std::int32_t end_of_text_;
  std::size_t width_;
  std::vector<std::byte> stored_;
  std::vector<Entry> entries_;
  mutable std::string fingerprint_;  // empty: not computed since the last change
};

}  // namespace ubique::data
