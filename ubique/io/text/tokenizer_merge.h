// SPDX-License-Identifier: Apache-2.0
// Merges of byte-pair encoding: lowest rank first, leftmost first among equals. A word of n bytes
// takes O(n log n) steps, so that a megabyte without whitespace is harmless.
#pragma once

#include <cstdint>
#include <vector>

namespace ubique::io {

class MergeTable {
 public:
  struct Merge {
    std::int32_t rank = 0;  ///< lower merges first
    std::int32_t id = 0;    ///< the merged token
  };

  /// For this many pairs; called once, before the first is added.
  void reserve(std::size_t count);
  void add(std::int32_t left, std::int32_t right, Merge merge);
  /// nullptr if the pair never merges.
  const Merge* find(std::int32_t left, std::int32_t right) const {
    if (slots_.empty()) return nullptr;
    const auto pair = key(left, right);
    for (auto at = place(pair);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].pair == pair) return &slots_[at].merge;
      if (slots_[at].pair == kNoPair) return nullptr;
    }
  }

 private:
  static constexpr std::uint64_t kNoPair = ~std::uint64_t{0};  // ids are not negative
  struct Slot {
    std::uint64_t pair = kNoPair;
    Merge merge;
  };

  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U |
           static_cast<std::uint32_t>(right);
  }
  std::size_t place(std::uint64_t pair) const {
    const auto mixed = (pair ^ pair >> 31U) * 0x9E37'79B9'7F4A'7C15ULL;
    return static_cast<std::size_t>(mixed >> 20U) & (slots_.size() - 1);
  }
  std::vector<Slot> slots_;  // a power of two, at most half full
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

  void apply_short(const std::vector<std::int32_t>& word, std::vector<std::int32_t>& out);
  void push_candidate(std::int32_t position);
  bool merge(const Candidate& candidate);

  const MergeTable& table_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
  std::vector<std::int32_t> short_;
  std::vector<const MergeTable::Merge*> merges_;
};

}  // namespace ubique::io
