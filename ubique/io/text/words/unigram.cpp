// SPDX-License-Identifier: Apache-2.0
// Tokens are a tree by their bytes, its edges in one hash table: a word of n bytes takes n steps
// for each of its beginnings, at most the longest token's length.
#include "ubique/io/text/words/unigram.h"

#include <algorithm>

#include "ubique/base/text/utf8.h"

namespace ubique::io {
namespace {

constexpr double kUnknownPenalty = 10;  // below the lowest score, as SentencePiece has it

}  // namespace

void Unigram::reserve(std::size_t bytes) {
  std::size_t slots = 16;
  while (slots < 2 * (bytes + 1)) slots *= 2;
  edges_.assign(slots, {});
  nodes_.assign(1, {});
  nodes_.reserve(bytes / 2);
}

std::size_t Unigram::place(std::uint64_t from) const {
  const auto mixed = (from ^ from >> 29U) * 0x9E37'79B9'7F4A'7C15ULL;
  return static_cast<std::size_t>(mixed >> 24U) & (edges_.size() - 1);
}

std::uint32_t Unigram::child(std::uint32_t node, unsigned char byte) const {
  const auto from = std::uint64_t{node} << 8U | byte;
  for (auto at = place(from);; at = (at + 1) & (edges_.size() - 1)) {
    if (edges_[at].from == from) return edges_[at].to;
    if (edges_[at].to == 0) return 0;
  }
}

void Unigram::add_hidden(double score) { lowest_ = std::min(lowest_, score); }

void Unigram::add(std::string_view token, std::int32_t id, double score) {
  add_hidden(score);
  if (token.empty()) return;
  std::uint32_t node = 0;
  for (const char letter : token) {
    const auto byte = static_cast<unsigned char>(letter);
    auto next = child(node, byte);
    if (next == 0) {
      next = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
      const auto from = std::uint64_t{node} << 8U | byte;
      auto at = place(from);
      while (edges_[at].to != 0) at = (at + 1) & (edges_.size() - 1);
      edges_[at] = {from, next};
    }
    node = next;
  }
  nodes_[node] = {id, score};
}

/// All tokens that begin at `begin`, and the unknown character if none is just that character.
void Unigram::extend(std::string_view word, std::size_t begin, std::vector<Best>& best) const {
  const auto length = code_point_at(word, begin).length;
  const double so_far = best[begin].score;
  bool single = false;
  const auto offer = [&](std::size_t end, double score, std::int32_t id) {
    auto& there = best[end];
    if (!there.reached || score > there.score) there = {score, begin, id, true};
  };
  std::uint32_t node = 0;
  for (auto end = begin; end < word.size();) {
    node = child(node, static_cast<unsigned char>(word[end++]));
    if (node == 0) break;
    if (nodes_[node].id == kUnknown) continue;
    offer(end, nodes_[node].score + so_far, nodes_[node].id);
    single = single || end - begin == length;
  }
  if (!single) offer(begin + length, lowest_ - kUnknownPenalty + so_far, kUnknown);
}

void Unigram::cut(std::string_view word, std::vector<Part>& parts) const {
  parts.clear();
  std::vector<Best> best(word.size() + 1);
  for (std::size_t at = 0; at < word.size(); at += code_point_at(word, at).length) {
    extend(word, at, best);
  }
  for (auto end = word.size(); end > 0;) {
    const auto& step = best[end];
    if (step.id == kUnknown && !parts.empty() && parts.back().id == kUnknown) {
      parts.back().begin = step.begin;
    } else {
      parts.push_back({step.begin, end, step.id});
    }
    end = step.begin;
  }
  std::reverse(parts.begin(), parts.end());
}

}  // namespace ubique::io
