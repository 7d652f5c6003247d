// SPDX-License-Identifier: Apache-2.0
// One range; several at once are answered with the whole.
#include "ubique/serve/http/range.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace ubique::serve {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = error == std::errc() && end == text.data() + text.size() && number >= 0;
  return all ? std::optional(number) : std::nullopt;
}

}  // namespace

WantedRange wanted_range(const std::string& header, std::int64_t bytes) {
  constexpr std::string_view kUnit = "bytes=";
  const std::string_view text = header;
  if (!text.starts_with(kUnit)) return {};
  const auto range = text.substr(kUnit.size());
  const auto dash = range.find('-');
  if (dash == std::string_view::npos) return {};
  const auto first = whole_number(range.substr(0, dash));
  const auto last = whole_number(range.substr(dash + 1));
  if (dash == 0) {  // the last N bytes
    if (!last) return {};
    const auto count = std::min(*last, bytes);
    if (count == 0) return {RangeKind::Impossible};
    return {RangeKind::Part, {bytes - count, count}};
  }
  if (!first || (!last && dash + 1 != range.size())) return {};
  if (last && *last < *first) return {};
  if (*first >= bytes) return {RangeKind::Impossible};
  const auto end = last ? std::min(*last, bytes - 1) : bytes - 1;
  return {RangeKind::Part, {*first, end - *first + 1}};
}

}  // namespace ubique::serve
