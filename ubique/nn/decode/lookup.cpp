// SPDX-License-Identifier: Apache-2.0
// One walk over the text from its end, and how many guesses pay.
#include "ubique/nn/decode/lookup.h"

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::nn {
namespace {

constexpr std::size_t kLeastMatch = 2;  // one token alone says little
constexpr std::size_t kMostMatch = 8;   // longer matches guess no better
constexpr std::int64_t kMostGuesses = 64;

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

void validate_lookup(std::int64_t most) {
  check(most >= 0 && most <= kMostGuesses, ErrorKind::Usage,
        "[nn.generate] --lookup is out of range; got {}, expected 0 (off) to {}.", most,
        kMostGuesses);
}

const std::vector<std::int32_t>& Guesses::propose(std::span<const std::int32_t> text,
                                                  std::int64_t room) {
  const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(room, 0, now_));
  const auto found = look_up(text, most);
  proposed_.assign(1, text.back());
  proposed_.insert(proposed_.end(), found.begin(), found.end());
  return proposed_;
}

void Guesses::learn(std::size_t right) {
  if (proposed_.size() <= 1) return;
  const auto guessed = static_cast<std::int64_t>(right) - 1;
  now_ =
      right == proposed_.size() ? std::min(most_, 2 * guessed) : std::max<std::int64_t>(guessed, 1);
}

}  // namespace ubique::nn
