// SPDX-License-Identifier: Apache-2.0
// Slices keep the trace of each byte; changed letters make the whole text given if any of it was.
#include "ubique/io/text/jinja/text_functions.h"

#include <algorithm>

#include "ubique/base/text/utf8.h"
#include "ubique/io/text/unicode/letter_case.h"
#include "ubique/io/text/unicode/unicode.h"

namespace ubique::io::jinja {
namespace {

/// Python's whitespace: Unicode's and four separators of ASCII.
bool is_python_space(char32_t point) {
  return character_class(point) == CharacterClass::Space || (point >= 0x1C && point <= 0x1F);
}

bool is_in_set(std::string_view character, const std::optional<std::string>& set) {
  if (!set) return is_python_space(code_point_at(character, 0).value);
  const auto at = set->find(character);
  return at != std::string::npos;
}

std::size_t previous_character(std::string_view text, std::size_t at) {
  --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
  return at;
}

std::vector<TracedText> split_at_spaces(const TracedText& text, std::int64_t most,
                                        bool from_right) {
  const auto& bytes = text.bytes();
  std::vector<std::pair<std::size_t, std::size_t>> words;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto point = code_point_at(bytes, at);
    const bool inside = !words.empty() && words.back().second == at;
    if (!is_python_space(point.value)) {
      if (!inside) words.emplace_back(at, at);
      words.back().second = at + point.length;
    }
    at += point.length;
  }
  std::vector<TracedText> parts;
  const auto count = words.size();
  const auto limit = most < 0 ? count : std::min(count, static_cast<std::size_t>(most) + 1);
  if (from_right && limit < count) {
    words[count - limit].first = words.front().first;
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count - limit));
  } else if (limit < count) {
    words[limit - 1].second = bytes.size();  // the rest as it is
    words.resize(limit);
  }
  for (const auto& [begin, end] : words) parts.push_back(text.slice(begin, end));
  return parts;
}

}  // namespace

std::vector<std::size_t> character_offsets(std::string_view text) {
  std::vector<std::size_t> offsets;
  for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).length) {
    offsets.push_back(at);
  }
  offsets.push_back(text.size());
  return offsets;
}

std::int64_t character_count(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).length) ++count;
  return count;
}

TracedText stripped(const TracedText& text, Sides sides, const std::optional<std::string>& set) {
  const std::string_view bytes = text.bytes();
  std::size_t begin = 0, end = bytes.size();
  while (sides != Sides::Right && begin < end) {
    const auto length = code_point_at(bytes, begin).length;
    if (!is_in_set(bytes.substr(begin, length), set)) break;
    begin += length;
  }
  while (sides != Sides::Left && end > begin) {
    const auto last = previous_character(bytes, end);
    if (last < begin || !is_in_set(bytes.substr(last, end - last), set)) break;
    end = last;
  }
  return text.slice(begin, end);
}

std::vector<TracedText> split_text(const TracedText& text,
                                   const std::optional<std::string>& separator, std::int64_t most,
                                   bool from_right) {
  if (!separator) return split_at_spaces(text, most, from_right);
  const auto& bytes = text.bytes();
  const auto length = separator->size();
  std::vector<TracedText> parts;
  const auto may_cut = [&] { return most < 0 || static_cast<std::int64_t>(parts.size()) < most; };
  if (!from_right) {
    std::size_t begin = 0;
    while (may_cut()) {
      const auto found = bytes.find(*separator, begin);
      if (found == std::string::npos) break;
      parts.push_back(text.slice(begin, found));
      begin = found + length;
    }
    parts.push_back(text.slice(begin, bytes.size()));
    return parts;
  }
  auto end = bytes.size();
  while (may_cut() && end >= length) {
    const auto found = bytes.rfind(*separator, end - length);
    if (found == std::string::npos) break;
    parts.push_back(text.slice(found + length, end));
    end = found;
  }
  parts.push_back(text.slice(0, end));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<TracedText> lines_of(const TracedText& text, bool keep_ends) {
  const auto& bytes = text.bytes();
  std::vector<TracedText> lines;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto end = std::min(bytes.find_first_of("\r\n", at), bytes.size());
    auto next = std::min(end + 1, bytes.size());
    if (end + 1 < bytes.size() && bytes[end] == '\r' && bytes[end + 1] == '\n') ++next;
    lines.push_back(text.slice(at, keep_ends ? next : end));
    at = next;
  }
  return lines;
}

TracedText replaced(const TracedText& text, std::string_view old, const TracedText& by,
                    std::int64_t most) {
  const auto& bytes = text.bytes();
  TracedText out;
  std::size_t kept = 0, search = 0;
  for (std::int64_t count = 0; most < 0 || count < most; ++count) {
    const auto found = bytes.find(old, search);
    if (found == std::string::npos) break;
    out.append(text.slice(kept, found));
    out.append(by);
    kept = found + old.size();
    if (found == bytes.size()) break;  // an empty `old` stands before each character and at the end
    search = old.empty() ? found + code_point_at(bytes, found).length : kept;
  }
  out.append(text.slice(kept, bytes.size()));
  return out;
}

TracedText indented(const TracedText& text, const TracedText& by, bool first, bool blank) {
  TracedText padded = text;
  padded.append("\n");  // as Jinja does, so that a last line end keeps its empty line
  const auto lines = lines_of(padded, false);
  TracedText out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n");
    if ((i > 0 || first) && (i == 0 || blank || lines[i].size() > 0)) out.append(by);
    out.append(lines[i]);
  }
  return out;
}

TracedText upper_case(const TracedText& text) { return text.derived(io::upper_case(text.bytes())); }

TracedText lower_case(const TracedText& text) { return text.derived(io::lower_case(text.bytes())); }

TracedText capitalized(const TracedText& text) {
  if (text.size() == 0) return text;
  const auto& bytes = text.bytes();
  const auto first = code_point_at(bytes, 0).length;
  return text.derived(io::title_case(bytes.substr(0, first)) + io::lower_case(bytes.substr(first)));
}

TracedText title_case(const TracedText& text, bool filter) {
  const auto& bytes = text.bytes();
  std::string out;
  bool inside = false;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto point = code_point_at(bytes, at);
    const auto letter = bytes.substr(at, point.length);
    const bool cased = io::upper_case(letter) != letter || io::lower_case(letter) != letter;
    out += inside   ? io::lower_case(letter)
           : filter ? io::upper_case(letter)
                    : io::title_case(letter);
    const bool parts = is_python_space(point.value) ||
                       std::string_view("-({[<").find(letter) != std::string_view::npos;
    inside = filter ? !parts : cased;
    at += point.length;
  }
  return text.derived(std::move(out));
}

}  // namespace ubique::io::jinja
