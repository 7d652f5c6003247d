// SPDX-License-Identifier: Apache-2.0
// Unigram language model over tokens: of all ways to cut a word into tokens, the one whose scores
// sum highest (Viterbi). SentencePiece's usual model, which T5 and its kin use.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace ubique::io {

class Unigram {
 public:
  static constexpr std::int32_t kUnknown = -1;

  struct Part {
    std::size_t begin = 0, end = 0;  ///< bytes of the word
    std::int32_t id = kUnknown;      ///< kUnknown: a run of characters that no token has
  };

  /// For this many bytes of tokens; called once, before the first is added.
  void reserve(std::size_t bytes);
  void add(std::string_view token, std::int32_t id, double score);
  /// Counts in the lowest score, below which unknown characters lie, without being found in texts.
  void add_hidden(double score);
  bool empty() const { return nodes_.size() <= 1; }

  /// Replaces the content of `parts`.
  void cut(std::string_view word, std::vector<Part>& parts) const;

 private:
  struct Node {  // of the tree of tokens
    std::int32_t id = kUnknown;
    double score = 0;
  };
  struct Edge {
    std::uint64_t from = ~std::uint64_t{0};  // node and byte
    std::uint32_t to = 0;
  };
  struct Best {  // way to a place in the word
    double score = 0;
    std::size_t begin = 0;
    std::int32_t id = kUnknown;
    bool reached = false;
  };

  std::uint32_t child(std::uint32_t node, unsigned char byte) const;  // 0: none
  std::size_t place(std::uint64_t from) const;
  void extend(std::string_view word, std::size_t begin, std::vector<Best>& best) const;

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;  // a hash table; a power of two, at most half full
  double lowest_ = std::numeric_limits<double>::infinity();
};

}  // namespace ubique::io
