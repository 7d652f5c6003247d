// SPDX-License-Identifier: Apache-2.0
// Finds fixed texts in a text: the leftmost, and of those that begin at one place the longest.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ubique::io {

class PatternFinder {
 public:
  /// Must be called before the first search; `number` is what a search returns. Empty texts are
  /// ignored.
  void add(std::string text, std::size_t number);
  void finish();
  bool empty() const { return patterns_.empty(); }

  struct Match {
    std::size_t begin = 0, size = 0, number = 0;
  };
  /// The first match from `at` on that `accepts(match)` takes; a size of 0 if there is none.
  template <typename Accepts>
  Match find(std::string_view text, std::size_t at, const Accepts& accepts) const {
    for (; at < text.size(); ++at) {
      const auto [first, last] = by_byte_[static_cast<unsigned char>(text[at])];
      for (auto i = first; i < last; ++i) {
        const auto& [pattern, number] = patterns_[i];
        if (text.compare(at, pattern.size(), pattern) != 0) continue;
        const Match match{at, pattern.size(), number};
        if (accepts(match)) return match;
      }
    }
    return {};
  }

 private:
  std::vector<std::pair<std::string, std::size_t>> patterns_;  // by first byte, longest first
  std::array<std::pair<std::size_t, std::size_t>, 256> by_byte_{};
};

}  // namespace ubique::io
