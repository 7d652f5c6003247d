// SPDX-License-Identifier: Apache-2.0
// What happens to documents between their reader and the folder: secrets are replaced, duplicates
// dropped, and whole units (all documents of one commit or one file) go to training or validation,
// near-duplicates to the same side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ubique/data/code/filter/drop_report.h"
#include "ubique/data/code/filter/near_duplicates.h"
#include "ubique/data/code/text_encoder.h"
#include "ubique/data/code/token_documents.h"

namespace ubique::data {

enum class SecretsMode { Replace, Drop, Keep };
SecretsMode parse_secrets_mode(std::string_view text);
std::string_view to_string(SecretsMode mode);

struct FilterOptions {
  SecretsMode secrets = SecretsMode::Replace;
  bool exact = true;              ///< drop documents with the same tokens
  double near_duplicates = 0.85;  ///< drop documents that are this similar; above 1: keep all
  double same_side = 0.7;         ///< documents this similar go to the same split
  double val_share = 0.1;         ///< share of the units for validation
  std::uint64_t seed = 42;
  std::int64_t least_tokens = 8;  ///< shorter documents are dropped
};

/// Usage error for values out of range.
void validate(const FilterOptions& options);
Json to_json(const FilterOptions& options);

/// A document that was kept, and its side.
struct PlacedDocument {
  EncodedDocument document;
  bool val = false;
};

class DocumentFilter {
 public:
  /// The encoder (of the tokenizer that made the documents) and the report must outlive this.
  DocumentFilter(const FilterOptions& options, TextEncoder& encoder, DropReport& report);

  /// Documents of an existing set, before additions to it.
  void remember(const EncodedDocument& document, bool val);
  /// Goes on after that many units.
  void skip_units(std::int64_t units) { units_ = units; }
  std::int64_t units() const { return units_; }

  /// Filters the documents of one unit and gives them a side.
  std::vector<PlacedDocument> place(std::vector<EncodedDocument>&& unit);

 private:
  struct Candidate {
    EncodedDocument document;
    std::uint64_t digest = 0;
    std::optional<MinHash> hash;
    bool near_train = false, near_val = false;
  };

  bool clean_secrets(EncodedDocument& document);
  bool is_dropped(Candidate& candidate);
  bool next_side();
  void keep(const Candidate& candidate, bool val);

  FilterOptions options_;
  TextEncoder& encoder_;
  DropReport& report_;
  SimilarityIndex index_;
  std::vector<bool> sides_;  // of the documents in the index: true = val
  std::unordered_map<std::uint64_t, bool> digests_;
  std::int64_t units_ = 0;
};

/// Indices of the documents for training and for validation, split as above without dropping any.
std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> split_documents(
    const TokenDocuments& documents, double val_share, std::uint64_t seed);

}  // namespace ubique::data
