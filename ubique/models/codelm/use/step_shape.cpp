// SPDX-License-Identifier: Apache-2.0
// Numbers are rounded up to few different ones.
#include "ubique/models/codelm/use/step_shape.h"

#include <algorithm>
#include <bit>

namespace ubique::codelm {
namespace {

constexpr std::int64_t kTileRows = 8;
constexpr std::int64_t kLeastWidth = 16, kLeastExtent = 256;  // of steps for prompts
constexpr std::int64_t kMostTokens = 1024;                    // ... and what bounds their memory
constexpr std::int64_t kMostRead = 16 << 10;                  // cached positions of all rows
/// Reading the weights takes longer than computing so many tokens.
constexpr std::int64_t kFreeTokens = 256;

std::int64_t rounded_up(std::int64_t number, std::int64_t least) {
  const auto whole = static_cast<std::uint64_t>(std::max(number, least));
  return static_cast<std::int64_t>(std::bit_ceil(whole));
}

}  // namespace

std::vector<std::int64_t> step_rows(std::int64_t slots) {
  std::vector<std::int64_t> rows = {1};
  for (auto more = kTileRows; rows.back() < slots; more *= 2) rows.push_back(std::min(more, slots));
  return rows;
}

StepShape step_shape(std::span<const nn::Extension> extensions, std::int64_t slots) {
  StepShape shape;
  std::int64_t end = 0;
  for (const auto& [slot, added] : extensions) {
    end = std::max(end, slot + 1);
    shape.width = std::max(shape.width, static_cast<std::int64_t>(added.size()));
  }
  if (extensions.size() == 1) {
    shape.first = end - 1;
  } else {
    const auto rows = step_rows(slots);
    shape.rows = *std::ranges::lower_bound(rows, end);
  }
  return shape;
}

StepShape prompt_shape(std::span<const nn::Extension> prompts, std::int64_t slots,
                       std::int64_t longest, std::int64_t capacity) {
  auto shape = step_shape(prompts, slots);
  std::int64_t tokens = 0;
  for (const auto& each : prompts) tokens += static_cast<std::int64_t>(each.tokens.size());
  shape.width = rounded_up(shape.width, kLeastWidth);
  shape.prompt_extent = std::min(rounded_up(longest, kLeastExtent), capacity);
  const auto computed = shape.rows * shape.width;
  const bool pays = computed <= std::min(kMostTokens, std::max(kFreeTokens, 2 * tokens));
  const bool fits = shape.prompt_extent >= longest && shape.rows * shape.prompt_extent <= kMostRead;
  if (!pays || !fits) shape.width = 0;
  return shape;
}

}  // namespace ubique::codelm
