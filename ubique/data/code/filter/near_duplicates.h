// SPDX-License-Identifier: Apache-2.0
// Finds documents that share most of their token shingles, by MinHash signatures (one permutation,
// empty bins filled from their neighbours) and locality-sensitive hashing. The result depends on
// the documents and their order alone. About 0.5 KB of memory per document, whatever its length.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ubique::data {

inline constexpr std::size_t kMinHashBins = 128;
using MinHash = std::array<std::uint16_t, kMinHashBins>;

/// Nothing for documents of fewer than 64 tokens: their similarity cannot be estimated.
std::optional<MinHash> min_hash(std::span<const std::int32_t> ids);
/// Estimate of the share of common shingles (Jaccard), 0 to 1; its standard error is at most 0.045.
double similarity(const MinHash& a, const MinHash& b);

/// The documents so far.
class SimilarityIndex {
 public:
  /// Documents at least this similar are found with high probability.
  explicit SimilarityIndex(double threshold);

  struct Match {
    std::uint32_t document = 0;  ///< number that add() gave it
    double similarity = 0;
  };
  /// All earlier documents with at least the threshold, the most similar first.
  std::vector<Match> find(const MinHash& hash) const;
  /// Returns its number: 0, 1, 2, ...
  std::uint32_t add(const MinHash& hash);

 private:
  struct Entry {
    std::uint32_t tag = 0, document = 0;  // tag 0: free
  };
  /// One for each band, of which there are fewer the longer they are.
  using Keys = std::array<std::uint64_t, kMinHashBins / 2>;

  std::size_t bands() const { return kMinHashBins / rows_; }
  Keys keys_of(const MinHash& hash) const;
  void insert(std::uint64_t key, std::uint32_t document);
  void grow();

  double threshold_;
  std::size_t rows_;  // bins per band
  std::vector<MinHash> hashes_;
  std::vector<Entry> table_;
  std::size_t used_ = 0;
};

}  // namespace ubique::data
