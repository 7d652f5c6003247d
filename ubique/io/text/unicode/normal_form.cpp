// SPDX-License-Identifier: Apache-2.0
// NFC group by group: a group begins with a character that nothing before it can change.
#include "ubique/io/text/unicode/normal_form.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ubique/base/text/utf8.h"
#include "ubique/io/text/unicode/normal_form_tables.h"
#include "ubique/io/text/unicode/packed.h"

namespace ubique::io {
namespace {

struct PartPair {
  char32_t first = 0, second = 0;  // second 0: none
};

struct FormTables {
  std::unordered_map<char32_t, PartPair> parts;
  std::unordered_map<std::uint64_t, char32_t> composites;
  std::unordered_set<char32_t> seconds;
  std::unordered_map<char32_t, std::uint32_t> classes;
};

std::uint64_t pair_key(char32_t first, char32_t second) {
  return static_cast<std::uint64_t>(first) << 32U | second;
}

void read_parts(std::string_view table, bool composes, FormTables& tables) {
  PackedNumbers numbers(table);
  std::uint32_t point = 0, first = 0, second = 0;
  while (!numbers.empty()) {
    point += numbers.next();
    first = numbers.next_signed(first);
    second = numbers.next_signed(second);
    tables.parts[point] = {first, second};
    if (!composes) continue;
    tables.composites[pair_key(first, second)] = point;
    tables.seconds.insert(second);
  }
}

const FormTables& form_tables() {
  static const auto tables = [] {
    FormTables made;
    read_parts(kCompositions, true, made);
    read_parts(kDecompositions, false, made);
    PackedNumbers numbers(kCombiningClasses);
    std::uint32_t first = 0, count = 0, kind = 0;
    while (!numbers.empty()) {
      first += numbers.next();
      count = numbers.next_signed(count);
      kind = numbers.next_signed(kind);
      for (std::uint32_t i = 0; i < count; ++i) made.classes[first + i] = kind;
    }
    return made;
  }();
  return tables;
}

std::uint32_t combining_class(char32_t point) {
  if (point < 0x300) return 0;
  const auto found = form_tables().classes.find(point);
  return found == form_tables().classes.end() ? 0 : found->second;
}

// Korean syllables are composed by arithmetic.
constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

void decompose(char32_t point, std::u32string& out) {
  if (point >= kSyllables && point < kSyllables + kSyllableCount) {
    const auto index = point - kSyllables;
    out += kLeads + index / (kVowelCount * kTailCount);
    out += kVowels + index % (kVowelCount * kTailCount) / kTailCount;
    if (index % kTailCount > 0) out += kTails + index % kTailCount;
    return;
  }
  const auto found = form_tables().parts.find(point);
  if (found == form_tables().parts.end()) {
    out += point;
    return;
  }
  decompose(found->second.first, out);
  if (found->second.second != 0) decompose(found->second.second, out);
}

/// 0 if the two do not compose.
char32_t composite_of(char32_t first, char32_t second) {
  if (first >= kLeads && first < kLeads + kLeadCount && second >= kVowels &&
      second < kVowels + kVowelCount) {
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
  }
  const bool open = first >= kSyllables && first < kSyllables + kSyllableCount &&
                    (first - kSyllables) % kTailCount == 0;
  if (open && second > kTails && second < kTails + kTailCount) return first + (second - kTails);
  const auto found = form_tables().composites.find(pair_key(first, second));
  return found == form_tables().composites.end() ? 0 : found->second;
}

/// Marks in the order of their class; those of one class keep their order.
void reorder(std::u32string& points) {
  for (auto at = points.begin(); at != points.end();) {
    if (combining_class(*at) == 0) {
      ++at;
      continue;
    }
    const auto end =
        std::find_if(at, points.end(), [](char32_t each) { return combining_class(each) == 0; });
    std::stable_sort(at, end, [](char32_t left, char32_t right) {
      return combining_class(left) < combining_class(right);
    });
    at = end;
  }
}

std::u32string composed(const std::u32string& points) {
  std::u32string out;
  auto starter = std::u32string::npos;
  std::uint32_t last_class = 0;
  for (const auto point : points) {
    const auto kind = combining_class(point);
    const bool adjacent = starter != std::u32string::npos && starter + 1 == out.size();
    const bool reaches = starter != std::u32string::npos && (adjacent || last_class < kind);
    if (const auto made = reaches ? composite_of(out[starter], point) : 0) {
      out[starter] = made;
      continue;
    }
    if (kind == 0) starter = out.size();
    last_class = kind;
    out += point;
  }
  return out;
}

/// Whether nothing before it can change it.
bool begins_group(char32_t point) {
  if (point < 0x300) return true;
  std::u32string parts;
  decompose(point, parts);
  const auto first = parts.front();
  const bool korean = first >= kVowels && first < kTails + kTailCount;
  return combining_class(first) == 0 && !korean && !form_tables().seconds.contains(first);
}

}  // namespace

bool is_surely_nfc(std::string_view text) {
  // Characters below U+0300 neither change nor combine; from there on UTF-8 begins with CC or more.
  return std::none_of(text.begin(), text.end(),
                      [](char byte) { return static_cast<unsigned char>(byte) >= 0xCCU; });
}

std::string to_nfc(std::string_view text, std::vector<std::size_t>* origins) {
  std::string out;
  out.reserve(text.size());
  std::u32string group;
  std::size_t group_start = 0;
  const auto finish = [&] {
    reorder(group);
    for (const auto point : composed(group)) append_utf8(out, point);
    group.clear();
    if (origins != nullptr) origins->resize(out.size(), group_start);
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto point = code_point_at(text, at);
    if (!point.valid || begins_group(point.value)) {
      finish();
      group_start = at;
    }
    if (point.valid) {
      decompose(point.value, group);
    } else {
      out += text.substr(at, point.length);
    }
    at += point.length;
  }
  finish();
  return out;
}

}  // namespace ubique::io
