// SPDX-License-Identifier: Apache-2.0
// Characters that are allowed, and percent-encoding.
#include "ubique/io/hub/name.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/text/utf8.h"

namespace ubique::io {
namespace {

constexpr std::size_t kLongestName = 96;   // of owner and name, as the hub has it
constexpr std::size_t kLongestPart = 255;  // of a path, as file systems have it
constexpr std::size_t kLongestPath = 1024;

bool is_word(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.';
}

bool is_word_text(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && text.front() != '.' &&
         text.find("..") == std::string_view::npos && text.find("--") == std::string_view::npos &&
         std::ranges::all_of(text, is_word);
}

bool is_safe_part(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && part.size() <= kLongestPart &&
         std::ranges::none_of(part, [](char letter) {
           const auto code = static_cast<unsigned char>(letter);
           return code < 0x20U || code == 0x7fU || letter == '\\' || letter == ':';
         });
}

template <typename Keep>
std::string percent_encoded(std::string_view text, Keep keep) {
  std::string encoded;
  for (const char letter : text) {
    if (keep(letter)) {
      encoded += letter;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
  }
  return encoded;
}

}  // namespace

std::optional<HubName> parse_hub_name(std::string_view text) {
  if (text.starts_with("hf:")) text.remove_prefix(3);
  const auto slash = text.find('/'), at = text.find('@');
  if (slash == std::string_view::npos) return std::nullopt;
  HubName name;
  name.owner = text.substr(0, slash);
  name.name = text.substr(slash + 1, at == std::string_view::npos ? at : at - slash - 1);
  if (at != std::string_view::npos) name.revision = text.substr(at + 1);
  const bool valid = (at == std::string_view::npos || at > slash) && is_word_text(name.owner) &&
                     is_word_text(name.name) && is_safe_path(name.revision);
  return valid ? std::optional(name) : std::nullopt;
}

bool is_safe_path(std::string_view path) {
  if (path.empty() || path.size() > kLongestPath || !is_utf8(path)) return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    if (!is_safe_part(path.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

bool is_hex(std::string_view text, std::size_t count) {
  return text.size() == count && std::ranges::all_of(text, [](char letter) {
           return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
         });
}

std::string url_path(std::string_view path) {
  return percent_encoded(path, [](char c) { return is_word(c) || c == '~' || c == '/'; });
}

std::string url_part(std::string_view text) {
  return percent_encoded(text, [](char c) { return is_word(c) || c == '~'; });
}

}  // namespace ubique::io
