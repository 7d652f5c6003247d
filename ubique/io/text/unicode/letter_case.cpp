// SPDX-License-Identifier: Apache-2.0
// Unpacks the tables of letter case at first use.
#include "ubique/io/text/unicode/letter_case.h"

#include <unordered_map>

#include "ubique/base/text/utf8.h"
#include "ubique/io/text/unicode/letter_case_tables.h"
#include "ubique/io/text/unicode/packed.h"

namespace ubique::io {
namespace {

using CaseMap = std::unordered_map<char32_t, std::string>;

void add_runs(std::string_view table, CaseMap& map) {
  PackedNumbers numbers(table);
  std::uint32_t first = 0, count = 0, step = 0, add = 0;
  while (!numbers.empty()) {
    first += numbers.next();
    count = numbers.next_signed(count);
    step = numbers.next_signed(step);
    add = numbers.next_signed(add);  // wraps around for a lower letter
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto point = first + i * step;
      std::string made;
      append_utf8(made, point + add);
      map[point] = made;
    }
  }
}

void add_texts(std::string_view table, CaseMap& map) {
  PackedNumbers numbers(table);
  std::uint32_t point = 0;
  while (!numbers.empty()) {
    point += numbers.next();
    std::string made;
    for (auto count = numbers.next(); count > 0; --count) append_utf8(made, numbers.next());
    map[point] = made;
  }
}

CaseMap case_map(std::string_view runs, std::string_view texts) {
  CaseMap map;
  add_runs(runs, map);
  add_texts(texts, map);
  return map;
}

const CaseMap& upper_map() {
  static const auto map = case_map(kUpperRuns, kUpperTexts);
  return map;
}

std::string changed(std::string_view text, const CaseMap& map) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto point = code_point_at(text, at);
    const auto found = map.find(point.value);
    out += found == map.end() ? text.substr(at, point.length) : std::string_view(found->second);
    at += point.length;
  }
  return out;
}

}  // namespace

std::string upper_case(std::string_view text) { return changed(text, upper_map()); }

std::string lower_case(std::string_view text) {
  static const auto map = case_map(kLowerRuns, kLowerTexts);
  return changed(text, map);
}

std::string title_case(std::string_view text) {
  static const auto map = [] {
    auto made = upper_map();
    add_texts(kTitleTexts, made);
    return made;
  }();
  return changed(text, map);
}

}  // namespace ubique::io
