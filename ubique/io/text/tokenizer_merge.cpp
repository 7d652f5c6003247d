// SPDX-License-Identifier: Apache-2.0
// A heap of candidate merges over a linked list of symbols; short words by looking at all pairs.
#include "ubique/io/text/tokenizer_merge.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace ubique::io {
namespace {

/// Up to here looking at all pairs again is faster than a heap.
constexpr std::size_t kShortWord = 32;

}  // namespace

void MergeTable::reserve(std::size_t count) { slots_.resize(std::bit_ceil(2 * count + 2)); }

void MergeTable::add(std::int32_t left, std::int32_t right, Merge merge) {
  const auto pair = key(left, right);
  auto at = place(pair);
  while (slots_[at].pair != kNoPair && slots_[at].pair != pair) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {pair, merge};
}

void Merger::apply_short(const std::vector<std::int32_t>& word, std::vector<std::int32_t>& out) {
  short_ = word;
  merges_.assign(word.size(), nullptr);  // [i]: of i and i + 1
  const auto look = [&](std::size_t i) {
    merges_[i] = i + 1 < short_.size() ? table_.find(short_[i], short_[i + 1]) : nullptr;
  };
  for (std::size_t i = 0; i + 1 < short_.size(); ++i) look(i);
  for (;;) {
    std::size_t best = short_.size();
    for (std::size_t i = 0; i + 1 < short_.size(); ++i) {
      const bool better = merges_[i] != nullptr &&
                          (best == short_.size() || merges_[i]->rank < merges_[best]->rank);
      if (better) best = i;
    }
    if (best == short_.size()) break;
    short_[best] = merges_[best]->id;
    short_.erase(short_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    merges_.erase(merges_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    look(best);
    if (best > 0) look(best - 1);
  }
  out.insert(out.end(), short_.begin(), short_.end());
}

/// Adds the symbol at `position` and its successor to the heap if they can merge.
void Merger::push_candidate(std::int32_t position) {
  const auto& left = symbols_[static_cast<std::size_t>(position)];
  if (left.after < 0) return;
  const auto* found = table_.find(left.id, symbols_[static_cast<std::size_t>(left.after)].id);
  if (found == nullptr) return;
  heap_.push_back({found->rank, position});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

/// False if one of the two symbols has changed since the candidate was pushed.
bool Merger::merge(const Candidate& candidate) {
  auto& left = symbols_[static_cast<std::size_t>(candidate.position)];
  if (left.id < 0 || left.after < 0) return false;
  auto& right = symbols_[static_cast<std::size_t>(left.after)];
  const auto* found = table_.find(left.id, right.id);
  if (found == nullptr || found->rank != candidate.rank) return false;
  left.id = found->id;
  left.after = right.after;
  right.id = -1;
  if (left.after >= 0) symbols_[static_cast<std::size_t>(left.after)].before = candidate.position;
  return true;
}

void Merger::apply(const std::vector<std::int32_t>& word, std::vector<std::int32_t>& out) {
  const auto count = static_cast<std::int32_t>(word.size());
  if (count == 0) return;
  if (word.size() <= kShortWord) return apply_short(word, out);
  symbols_.clear();
  for (std::int32_t i = 0; i < count; ++i) {
    symbols_.push_back({word[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
  }
  heap_.clear();
  for (std::int32_t i = 0; i < count; ++i) push_candidate(i);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto best = heap_.back();
    heap_.pop_back();
    if (!merge(best)) continue;
    push_candidate(best.position);
    if (const auto before = symbols_[static_cast<std::size_t>(best.position)].before; before >= 0) {
      push_candidate(before);
    }
  }
  for (std::int32_t i = 0; i >= 0; i = symbols_[static_cast<std::size_t>(i)].after) {
    out.push_back(symbols_[static_cast<std::size_t>(i)].id);
  }
}

}  // namespace ubique::io
