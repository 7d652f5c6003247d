// SPDX-License-Identifier: Apache-2.0
// Generates numbered candidates on several threads until enough distinct ones are found. The result
// does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "ubique/base/parallel.h"

namespace ubique::data {

/// The search ends after this many candidates in a row without a new item.
inline constexpr std::int64_t kFruitlessTries = 20'000;

/// Makes candidates 0, 1, 2, ... and keeps those with a new `key`, in this order, until there are
/// `wanted`, or fewer if kFruitlessTries bring nothing. make(index) returns nothing for a rejected
/// candidate. `progress` gets the number kept and may throw.
template <typename Item>
std::vector<Item> collect_distinct(
    std::int64_t wanted, int threads,
    const std::function<std::optional<Item>(std::uint64_t index)>& make,
    const std::function<void(std::int64_t done)>& progress) {
  constexpr std::int64_t kAtOnce = 256;
  std::vector<Item> kept;
  std::unordered_set<std::string> seen;
  std::int64_t fruitless = 0;
  for (std::uint64_t first = 0; static_cast<std::int64_t>(kept.size()) < wanted; first += kAtOnce) {
    std::vector<std::optional<Item>> made(kAtOnce);
    parallel_for(kAtOnce, threads, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        made[static_cast<std::size_t>(i)] = make(first + static_cast<std::uint64_t>(i));
      }
    });
    for (auto& item : made) {
      if (static_cast<std::int64_t>(kept.size()) == wanted) break;
      if (!item || !seen.insert(item->key).second) {
        if (++fruitless == kFruitlessTries) return kept;
        continue;
      }
      fruitless = 0;
      kept.push_back(std::move(*item));
    }
    if (progress) progress(static_cast<std::int64_t>(kept.size()));
  }
  return kept;
}

}  // namespace ubique::data
