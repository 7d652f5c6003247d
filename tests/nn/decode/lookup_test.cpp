// SPDX-License-Identifier: Apache-2.0
// Guesses from the text itself.
#include "ubique/nn/decode/lookup.h"

#include <doctest/doctest.h>

#include <vector>

using namespace ubique;

namespace {

std::vector<std::int32_t> guessed(const std::vector<std::int32_t>& text, std::size_t most) {
  const auto found = nn::look_up(text, most);
  return {found.begin(), found.end()};
}

using Tokens = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("lookup: what followed the same end is guessed, up to the limit") {
  CHECK(guessed({1, 2, 3, 4, 5, 1, 2}, 2) == Tokens{3, 4});
  CHECK(guessed({1, 2, 3, 4, 5, 1, 2}, 9) == Tokens{3, 4, 5, 1, 2});
  CHECK(guessed({7, 7, 7}, 4) == Tokens{7});
}

TEST_CASE("lookup: the longest match counts, of equals the latest") {
  CHECK(guessed({9, 1, 2, 3, 8, 1, 2, 4, 9, 1, 2}, 1) == Tokens{3});
  CHECK(guessed({1, 2, 3, 1, 2, 4, 1, 2}, 1) == Tokens{4});
}

TEST_CASE("lookup: nothing is guessed from one token, or from nothing") {
  CHECK(guessed({1, 5, 2, 5}, 4).empty());
  CHECK(guessed({1, 2, 3}, 4).empty());
  CHECK(guessed({}, 4).empty());
  CHECK(guessed({1, 2, 1, 2}, 0).empty());
}
