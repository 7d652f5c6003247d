// SPDX-License-Identifier: Apache-2.0
// What the cache of words keeps, and what it does when it is full.
#include "ubique/io/text/words/word_cache.h"

#include <doctest/doctest.h>

#include <string>

using namespace ubique;

TEST_CASE("word cache: words come back with their tokens, also while it grows") {
  io::WordCache cache({.longest = 40, .slots = 1U << 12U});
  bool known = true;
  CHECK(cache.find(cache.key("a"), known).empty());
  CHECK_FALSE(known);
  for (int i = 0; i < 1500; ++i) {
    const auto word = std::string(static_cast<std::size_t>(i % 20), 'x') + std::to_string(i);
    const std::vector<std::int32_t> ids(static_cast<std::size_t>(i % 5), i);
    cache.add(cache.key(word), ids);
    const auto found = cache.find(cache.key(word), known);
    CHECK(known);
    CHECK(std::vector(found.begin(), found.end()) == ids);
  }
  cache.find(cache.key("7"), known);
  CHECK_FALSE(known);
  cache.find(cache.key(std::string(7, 'x') + "7"), known);
  CHECK(known);
}

TEST_CASE("word cache: it keeps no longer words, and starts again when it is full") {
  io::WordCache cache({.longest = 8, .slots = 256});
  bool known = true;
  const std::vector<std::int32_t> ids = {1};
  cache.add(cache.key("123456789"), ids);
  cache.find(cache.key("123456789"), known);
  CHECK_FALSE(known);
  int kept = 0;
  for (int i = 0; i < 1000; ++i) cache.add(cache.key(std::to_string(i)), ids);
  for (int i = 0; i < 1000; ++i) {
    cache.find(cache.key(std::to_string(i)), known);
    kept += known ? 1 : 0;
  }
  CHECK(kept > 0);
  CHECK(kept <= 128);
}
