// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/utf8.h"

#include <cstddef>
#include <cstdint>

namespace ubique::io {
namespace {

/// Bytes of the code point that begins with `lead`; 0 if none does.
std::size_t utf8_length(unsigned char lead) {
  if (lead < 0x80U) return 1;
  if (lead >= 0xC2U && lead <= 0xDFU) return 2;
  if (lead >= 0xE0U && lead <= 0xEFU) return 3;
  if (lead >= 0xF0U && lead <= 0xF4U) return 4;
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const auto length = utf8_length(lead);
    if (length == 0 || length > text.size() - i) return false;
    std::uint32_t point = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0U) != 0x80U) return false;
      point = point << 6U | (next & 0x3FU);
    }
    const bool overlong = (length == 3 && point < 0x800U) || (length == 4 && point < 0x10000U);
    const bool surrogate = point >= 0xD800U && point <= 0xDFFFU;
    if (overlong || surrogate || point > 0x10FFFFU) return false;
    i += length;
  }
  return true;
}

}  // namespace ubique::io
