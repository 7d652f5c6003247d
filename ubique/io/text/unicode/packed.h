// SPDX-License-Identifier: Apache-2.0
// Reads the packed tables that tools/unicode_tables.py writes: 5 bits a character, lowest first.
#pragma once

#include <cstdint>
#include <string_view>

namespace ubique::io {

class PackedNumbers {
 public:
  explicit PackedNumbers(std::string_view table) : table_(table) {}

  bool empty() const { return at_ == table_.size(); }
  std::uint32_t next() {
    std::uint32_t number = 0;
    for (std::uint32_t shift = 0;; shift += 5) {
      const auto letter = table_[at_++];
      const auto digit = static_cast<std::uint32_t>((letter == '!' ? '\\' : letter) - '0');
      number |= (digit & 31U) << shift;
      if (digit < 32) return number;
    }
  }
  /// Difference to the number before in the same column.
  std::uint32_t next_signed(std::uint32_t before) {
    const auto number = next();
    return number % 2 == 0 ? before + number / 2 : before - (number + 1) / 2;
  }

 private:
  std::string_view table_;
  std::size_t at_ = 0;
};

}  // namespace ubique::io
