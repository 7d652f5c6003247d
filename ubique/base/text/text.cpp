// SPDX-License-Identifier: Apache-2.0
// Parsing and formatting by hand where the standard library depends on the locale.
#include "ubique/base/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>

namespace ubique {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

bool take_any(std::string_view& text, std::string_view wanted) {
  if (text.empty() || wanted.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

bool looks_like_number(std::string_view text) {
  take_any(text, "+-");
  std::size_t digits = take_digits(text);
  if (take_any(text, ".")) digits += take_digits(text);
  if (digits == 0) return false;
  if (!take_any(text, "eE")) return text.empty();
  take_any(text, "+-");
  return take_digits(text) > 0 && text.empty();
}

}  // namespace

std::string human_bytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  while (std::abs(value) >= 1024 && unit < 5) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

// A stream, because std::from_chars for doubles is missing from Apple's library.
std::optional<double> parse_number(std::string_view text) {
  if (!looks_like_number(text)) return {};
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double value = 0;
  stream >> value;
  if (stream.fail() || !std::isfinite(value)) return {};
  return value;
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const std::string lower = lowercase(trim(text));
  std::size_t digits = 0;
  while (digits < lower.size() && (is_digit(lower[digits]) || lower[digits] == '.')) ++digits;
  const auto value = parse_number(std::string_view(lower).substr(0, digits));
  if (!value) return {};
  std::string unit(trim(std::string_view(lower).substr(digits)));
  double base = 1024;
  if (unit.size() == 2 && unit[1] == 'b') {
    base = 1000;
    unit.pop_back();
  } else if (unit.size() == 3 && unit.substr(1) == "ib") {
    unit.resize(1);
  } else if (unit == "b") {
    unit.clear();
  }
  constexpr std::string_view kPrefixes = "kmgt";
  double scale = 1;
  if (!unit.empty()) {
    const auto power = kPrefixes.find(unit[0]);
    if (unit.size() != 1 || power == std::string_view::npos) return {};
    scale = std::pow(base, static_cast<double>(power + 1));
  }
  const double bytes = *value * scale;
  if (!(bytes < 9.2e18)) return {};
  return static_cast<std::int64_t>(bytes);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(separator);
    if (const auto part = trim(text.substr(0, end)); !part.empty()) parts.emplace_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string lowercase(std::string_view text) {
  std::string lower(text);
  for (auto& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

int edit_distance(std::string_view from, std::string_view to) {
  // Three rows of the Damerau-Levenshtein table: two back, previous, current.
  std::vector<int> before, previous(to.size() + 1), current(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) previous[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const int change = previous[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, change});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before = previous;
    previous = current;
  }
  return previous[to.size()];
}

std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestWord = 200;  // longer is no misspelt word, and the table costs
  if (word.size() > kLongestWord) return {};
  std::optional<std::string> best;
  int best_distance = std::max<int>(2, static_cast<int>(word.size()) / 3) + 1;
  for (const auto& candidate : candidates) {
    const int distance = edit_distance(lowercase(word), lowercase(candidate));
    // Replacing every letter is not a typo: a short word must keep at least one.
    if (distance < best_distance && distance < static_cast<int>(candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string hint(std::string_view word, const std::vector<std::string>& candidates) {
  const auto near = did_you_mean(word, candidates);
  return near ? fmt::format(" Did you mean '{}'?", *near) : std::string();
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // continuation bytes take no column
  }));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (const auto& word : split(text, ' ')) {
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(line);
  return lines;
}

}  // namespace ubique
