// SPDX-License-Identifier: Apache-2.0
// UTF-8 by the table of valid byte sequences.
#include "ubique/base/text/utf8.h"

#include <cstdint>
#include <cstring>

namespace ubique {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

/// Length of the sequence that begins with `lead`; 0 if it begins none.
std::size_t utf8_length(unsigned char lead) {
  if (lead < 0x80U) return 1;
  if (lead >= 0xC2U && lead <= 0xDFU) return 2;
  if (lead >= 0xE0U && lead <= 0xEFU) return 3;
  if (lead >= 0xF0U && lead <= 0xF4U) return 4;
  return 0;
}

/// Restricting the second byte excludes overlong forms, surrogates and points above U+10FFFF.
bool is_second(unsigned char lead, unsigned char next) {
  const unsigned low = lead == 0xE0U ? 0xA0U : lead == 0xF0U ? 0x90U : 0x80U;
  const unsigned high = lead == 0xEDU ? 0x9FU : lead == 0xF4U ? 0x8FU : 0xBFU;
  return next >= low && next <= high;
}

/// Whether the next eight bytes are there and all of them are ASCII.
bool is_ascii_word(std::string_view text, std::size_t at) {
  std::uint64_t word = 0;
  if (text.size() - at < sizeof word) return false;
  std::memcpy(&word, text.data() + at, sizeof word);
  return (word & 0x8080'8080'8080'8080ULL) == 0;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const auto length = utf8_length(lead);
  if (length == 0) return {kReplacement, 1, false, false};
  char32_t point = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if (at + k == text.size()) return {kReplacement, k, false, true};
    const auto next = static_cast<unsigned char>(text[at + k]);
    const bool fits = k == 1 ? is_second(lead, next) : (next & 0xC0U) == 0x80U;
    if (!fits) return {kReplacement, k, false, false};
    point = point << 6U | (next & 0x3FU);
  }
  return {point, length, true, false};
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (is_ascii_word(text, i)) {
      i += sizeof(std::uint64_t);
      continue;
    }
    const auto point = code_point_at(text, i);
    if (!point.valid) return false;
    i += point.length;
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto point = code_point_at(text, i);
    if (point.valid) {
      result += text.substr(i, point.length);
    } else {
      append_utf8(result, kReplacement);
    }
    i += point.length;
  }
  return result;
}

std::size_t complete_utf8(std::string_view text) {
  const auto first =
      text.size() > 3 ? text.size() - 3 : 0;  // an incomplete sequence has at most 3 bytes
  for (std::size_t i = first; i < text.size(); ++i) {
    if (code_point_at(text, i).cut) return i;
  }
  return text.size();
}

void append_utf8(std::string& text, char32_t point) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80U) return put(point);
  if (point < 0x800U) {
    put(0xC0U | point >> 6U);
  } else {
    if (point < 0x10000U) {
      put(0xE0U | point >> 12U);
    } else {
      put(0xF0U | point >> 18U);
      put(0x80U | (point >> 12U & 0x3FU));
    }
    put(0x80U | (point >> 6U & 0x3FU));
  }
  put(0x80U | (point & 0x3FU));
}

}  // namespace ubique
