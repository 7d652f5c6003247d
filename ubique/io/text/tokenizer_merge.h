// SPDX-License-Identifier: Apache-2.0
// Merges of byte-pair encoding: lowest rank first, leftmost first among equals. A word of n bytes
// takes O(n log n) steps, so that a megabyte without whitespace is harmless.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ubique::io {

class MergeTable {
 public:
  struct Merge {
    std::int32_t rank = 0;  ///< lower merges first
    std::int32_t id = 0;    ///< the merged token
  };

  void reserve(std::size_t count) { merges_.reserve(count); }
  void add(std::int32_t left, std::int32_t right, Merge merge) {
    merges_[key(left, right)] = merge;
  }
  /// nullptr if the pair never merges.
  const Merge* find(std::int32_t left, std::int32_t right) const {
    const auto found = merges_.find(key(left, right));
    return found == merges_.end() ? nullptr : &found->second;
  }

 private:
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U |
           static_cast<std::uint32_t>(right);
  }
  std::unordered_map<std::uint64_t, Merge> merges_;
};

/// Merges the tokens of words; reuses its buffers from word to word.
class Merger {
 public:
  explicit Merger(const MergeTable& table) : table_(table) {}

  /// Appends the merged `word` to `out`.
  void apply(const std::vector<std::int32_t>& word, std::vector<std::int32_t>& out);

 private:
  struct Symbol {
    std::int32_t id;
    std::int32_t before, after;  // -1: none
  };
  struct Candidate {
    std::int32_t rank, position;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : position > other.position;
    }
  };

  void push_candidate(std::int32_t position);
  bool merge(const Candidate& candidate);

  const MergeTable& table_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace ubique::io
