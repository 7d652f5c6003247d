// SPDX-License-Identifier: Apache-2.0
// Binary search in the Unicode tables.
#include "ubique/io/text/unicode/unicode.h"

#include <algorithm>
#include <span>
#include <vector>

#include "ubique/io/text/unicode/packed.h"
#include "ubique/io/text/unicode/unicode_tables.h"

namespace ubique::io {
namespace {

/// `ranges` alternates first and last points: the first value not below `point` is the point itself
/// or the last point of its range.
bool lies_in(std::span<const std::uint32_t> ranges, std::uint32_t point) {
  const auto found = std::lower_bound(ranges.begin(), ranges.end(), point);
  if (found == ranges.end()) return false;
  return *found == point || (found - ranges.begin()) % 2 == 1;
}

bool is_white_space(std::uint32_t point) {
  if (point < 0x80) return point == ' ' || (point >= '\t' && point <= '\r');
  return point == 0x85 || point == 0xA0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 ||
         point == 0x202F || point == 0x205F || point == 0x3000;
}

}  // namespace

CharacterClass wide_character_class(char32_t point) {
  if (is_white_space(point)) return CharacterClass::Space;
  if (lies_in(kLetterRanges, point)) return CharacterClass::Letter;
  return lies_in(kNumberRanges, point) ? CharacterClass::Number : CharacterClass::Other;
}

bool is_word_character(char32_t point) {
  static const auto ranges = [] {
    std::vector<std::uint32_t> made;
    std::uint32_t end = 0;
    for (PackedNumbers numbers(kWordRanges); !numbers.empty();) {
      made.push_back(end += numbers.next());
      made.push_back(end += numbers.next());
    }
    return made;
  }();
  return lies_in(ranges, point);
}

}  // namespace ubique::io
