// SPDX-License-Identifier: Apache-2.0
// A heap of candidate merges over a linked list of symbols.
#include "ubique/io/text/tokenizer_merge.h"

#include <algorithm>
#include <functional>

namespace ubique::io {

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
