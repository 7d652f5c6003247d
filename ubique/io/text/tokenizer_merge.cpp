// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/text/tokenizer_merge.h"

#include <algorithm>
#include <functional>

namespace ubique::io {

/// Notes that the symbol at `place` may merge with the one after it.
void Merger::offer(std::int32_t place) {
  const auto& left = symbols_[static_cast<std::size_t>(place)];
  if (left.after < 0) return;
  const auto* merge = table_.find(left.id, symbols_[static_cast<std::size_t>(left.after)].id);
  if (merge == nullptr) return;
  heap_.push_back({merge->rank, place});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

/// Merges, unless one of the two has changed since it was offered.
bool Merger::take(const Candidate& candidate) {
  auto& left = symbols_[static_cast<std::size_t>(candidate.place)];
  if (left.id < 0 || left.after < 0) return false;
  auto& right = symbols_[static_cast<std::size_t>(left.after)];
  const auto* merge = table_.find(left.id, right.id);
  if (merge == nullptr || merge->rank != candidate.rank) return false;
  left.id = merge->id;
  left.after = right.after;
  right.id = -1;
  if (left.after >= 0) symbols_[static_cast<std::size_t>(left.after)].before = candidate.place;
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
  for (std::int32_t i = 0; i < count; ++i) offer(i);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto best = heap_.back();
    heap_.pop_back();
    if (!take(best)) continue;
    offer(best.place);
    if (const auto before = symbols_[static_cast<std::size_t>(best.place)].before; before >= 0) {
      offer(before);
    }
  }
  for (std::int32_t i = 0; i >= 0; i = symbols_[static_cast<std::size_t>(i)].after) {
    out.push_back(symbols_[static_cast<std::size_t>(i)].id);
  }
}

}  // namespace ubique::io
