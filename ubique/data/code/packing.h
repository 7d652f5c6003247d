// SPDX-License-Identifier: Apache-2.0
// Packs documents into rows of one length. Each document is followed by end-of-text; one longer
// than a row is cut into windows, which attend to themselves alone like documents; nothing is
// dropped. Rows depend on the documents, the options and the epoch only, so any micro-batch size
// and any number of readers see the same rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ubique/data/code/fim.h"
#include "ubique/data/code/token_documents.h"

namespace ubique::data {

/// A label that carries no loss.
inline constexpr std::int32_t kNoLabel = -100;

struct PackingOptions {
  std::int64_t length = 1024;  ///< tokens of a row
  std::int64_t longest = 0;    ///< tokens of a window at most; 0 = a row. Not with `contiguous`
  std::uint64_t seed = 42;
  bool shuffle = true;  ///< a new order in each epoch; else that of the documents
  /// One stream of all documents, cut every `length` tokens; a row attends over the documents'
  /// boundaries, and labels cross them.
  bool contiguous = false;
  /// Fill-in-the-middle for documents without a prompt; not with `contiguous`.
  std::optional<FimOptions> fim = {};
};

/// Usage error for a length below 2 or above 2^20, and for `contiguous` with `fim` or `longest`.
void validate(const PackingOptions& options);

struct PackedRow {
  std::vector<std::int32_t> ids;        ///< `length`; padded with end-of-text
  std::vector<std::int32_t> labels;     ///< the token after each, already shifted; or kNoLabel
  std::vector<std::int32_t> positions;  ///< count from 0 in each document or window
  /// Where documents begin, then `length`: cumulative lengths for packed attention. Padding counts
  /// as one document.
  std::vector<std::int32_t> starts;
  std::int64_t label_count = 0;  ///< labels that carry loss
  std::int64_t padding = 0;
};

/// The rows of one epoch.
class Packing {
 public:
  /// `tokenizer` is needed for FIM only. All must outlive this. Input error for documents without a
  /// token to learn.
  Packing(const TokenDocuments& documents, const PackingOptions& options, std::int64_t epoch,
          const io::Tokenizer* tokenizer = nullptr);

  std::int64_t rows() const { return static_cast<std::int64_t>(row_ends_.size()); }
  /// Thread-safe.
  PackedRow row(std::int64_t index) const;
  /// Tokens with loss of the whole epoch before FIM, and padding of all rows.
  std::int64_t padding() const { return padding_; }

 private:
  /// A document or a part of one, with its end-of-text if that is part of it.
  struct Window {
    std::int64_t document;
    std::int32_t first, length;  // tokens, of the document with its end-of-text
  };

  std::vector<Window> cut_documents() const;
  void fill_rows(const std::vector<Window>& windows);
  void order_rows();
  void add_window(const Window& window, PackedRow& row) const;
  void finish_row(PackedRow& row) const;
  PackedRow stream_row(std::int64_t index) const;
  std::size_t row_of(std::int64_t index) const;

  const TokenDocuments& documents_;
  PackingOptions options_;
  std::int64_t epoch_;
  std::optional<FimTransform> fim_;
  std::vector<Window> windows_;         // by row
  std::vector<std::int64_t> row_ends_;  // in windows_; of a stream, row numbers
  std::vector<std::int64_t> order_;     // of the rows; empty: as they are
  std::vector<std::int64_t> offsets_;   // of a stream: first token of each document, then the end
  std::int64_t padding_ = 0;
};

}  // namespace ubique::data
