// SPDX-License-Identifier: Apache-2.0
// Sorts the patterns by their first byte.
#include "ubique/io/text/words/pattern_finder.h"

#include <algorithm>

namespace ubique::io {

void PatternFinder::add(std::string text, std::size_t number) {
  if (!text.empty()) patterns_.emplace_back(std::move(text), number);
}

void PatternFinder::finish() {
  const auto first = [](const auto& pattern) {
    return static_cast<unsigned char>(pattern.first.front());
  };
  std::stable_sort(patterns_.begin(), patterns_.end(), [&](const auto& left, const auto& right) {
    return first(left) != first(right) ? first(left) < first(right)
                                       : left.first.size() > right.first.size();
  });
  by_byte_.fill({0, 0});
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    auto& range = by_byte_[first(patterns_[i])];
    if (range.second == 0) range.first = i;
    range.second = i + 1;
  }
}

}  // namespace ubique::io
