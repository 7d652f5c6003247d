// SPDX-License-Identifier: Apache-2.0
// One walk over the text from its end.
#include "ubique/nn/decode/lookup.h"

#include <algorithm>

namespace ubique::nn {
namespace {

constexpr std::size_t kLeastMatch = 2;  // one token alone says little
constexpr std::size_t kMostMatch = 8;   // longer matches guess no better

/// Tokens before `end` that equal the last tokens of the text, up to kMostMatch.
std::size_t match_before(std::span<const std::int32_t> text, std::size_t end) {
  std::size_t length = 0;
  while (length < std::min(end, kMostMatch) &&
         text[end - 1 - length] == text[text.size() - 1 - length]) {
    ++length;
  }
  return length;
}

}  // namespace

std::span<const std::int32_t> look_up(std::span<const std::int32_t> text, std::size_t most) {
  if (text.empty() || most == 0) return {};
  std::size_t found = 0, longest = kLeastMatch - 1;
  for (auto end = text.size() - 1; end > 0 && longest < kMostMatch; --end) {
    const auto length = match_before(text, end);
    if (length <= longest) continue;
    longest = length;
    found = end;
  }
  return found == 0 ? text.first(0) : text.subspan(found, std::min(most, text.size() - found));
}

}  // namespace ubique::nn
