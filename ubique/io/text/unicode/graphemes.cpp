// SPDX-License-Identifier: Apache-2.0
// The classes of UAX 29 that matter, from packed tables, and the breaks between them.
#include "ubique/io/text/unicode/graphemes.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ubique/base/text/utf8.h"
#include "ubique/io/text/unicode/grapheme_tables.h"
#include "ubique/io/text/unicode/packed.h"

namespace ubique::io {
namespace {

enum class Cluster { Other, Control, Joining, Prepended, LeadJamo, VowelJamo, TailJamo };

/// First and last points in turn.
std::vector<std::uint32_t> unpacked_ranges(std::string_view table) {
  std::vector<std::uint32_t> made;
  std::uint32_t end = 0;
  for (PackedNumbers numbers(table); !numbers.empty();) {
    made.push_back(end += numbers.next());
    made.push_back(end += numbers.next());
  }
  return made;
}

bool is_in_ranges(const std::vector<std::uint32_t>& ranges, std::uint32_t point) {
  const auto found = std::lower_bound(ranges.begin(), ranges.end(), point);
  if (found == ranges.end()) return false;
  return *found == point || (found - ranges.begin()) % 2 == 1;
}

/// Korean syllables count as the last of the letters that they consist of.
Cluster korean_class(std::uint32_t point) {
  const auto within = [&](std::uint32_t first, std::uint32_t last) {
    return point >= first && point <= last;
  };
  if (within(0x1100, 0x115F) || within(0xA960, 0xA97C)) return Cluster::LeadJamo;
  if (within(0x1160, 0x11A7) || within(0xD7B0, 0xD7C6)) return Cluster::VowelJamo;
  if (within(0x11A8, 0x11FF) || within(0xD7CB, 0xD7FB)) return Cluster::TailJamo;
  if (within(0xAC00, 0xD7A3)) {
    return (point - 0xAC00) % 28 == 0 ? Cluster::VowelJamo : Cluster::TailJamo;
  }
  return Cluster::Other;
}

Cluster cluster_class(std::uint32_t point) {
  static const auto joining = unpacked_ranges(kJoiningRanges);
  static const auto control = unpacked_ranges(kControlRanges);
  static const auto prepended = unpacked_ranges(kPrependedRanges);
  if (point < 0x300) {
    const bool plain = (point >= 0x20 && point < 0x7F) || (point >= 0xA0 && point != 0xAD);
    return plain ? Cluster::Other : Cluster::Control;
  }
  if (is_in_ranges(joining, point)) return Cluster::Joining;
  if (is_in_ranges(control, point)) return Cluster::Control;
  return is_in_ranges(prepended, point) ? Cluster::Prepended : korean_class(point);
}

bool joins_korean(Cluster before, std::uint32_t point, Cluster after) {
  const bool syllable = point >= 0xAC00 && point <= 0xD7A3;
  if (before == Cluster::LeadJamo) {
    return syllable || after == Cluster::LeadJamo || after == Cluster::VowelJamo;
  }
  if (syllable) return false;
  if (before == Cluster::VowelJamo) {
    return after == Cluster::VowelJamo || after == Cluster::TailJamo;
  }
  return before == Cluster::TailJamo && after == Cluster::TailJamo;
}

}  // namespace

std::size_t grapheme_end(std::string_view text, std::size_t at) {
  auto point = code_point_at(text, at);
  at += point.length;
  auto before = point.valid ? cluster_class(point.value) : Cluster::Control;
  if (before == Cluster::Control) {
    const bool line = point.valid && point.value == '\r' && at < text.size() && text[at] == '\n';
    return line ? at + 1 : at;
  }
  while (at < text.size()) {
    point = code_point_at(text, at);
    const auto after = point.valid ? cluster_class(point.value) : Cluster::Control;
    const bool joined =
        after != Cluster::Control && (after == Cluster::Joining || before == Cluster::Prepended ||
                                      joins_korean(before, point.value, after));
    if (!joined) break;
    at += point.length;
    before = after;
  }
  return at;
}

}  // namespace ubique::io
