// SPDX-License-Identifier: Apache-2.0
// Rows of tokens of one length, stored as one byte per token where possible: a million sudokus take
// 81 MB.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ubique::data {

class TokenRows {
 public:
  TokenRows() = default;
  /// `wide`: i32 storage, for tokens below 0 or above 255.
  explicit TokenRows(std::int64_t length, bool wide = false) : length_(length), wide_(wide) {}

  std::int64_t length() const { return length_; }
  std::int64_t count() const;
  bool wide() const { return wide_; }

  std::int32_t at(std::int64_t row, std::int64_t column) const;
  void copy(std::int64_t row, std::span<std::int32_t> out) const;  ///< `out` has length()
  std::vector<std::int32_t> row(std::int64_t row) const;

  void reserve(std::int64_t rows);
  /// One or more whole rows. Internal error for a partial row, or tokens out of range.
  void append(std::span<const std::int32_t> tokens);
  void append(const TokenRows& more);  ///< of the same length; becomes wide if `more` is

  std::span<const std::uint8_t> bytes() const { return narrow_; }   ///< unless wide()
  std::span<const std::int32_t> words() const { return widened_; }  ///< if wide()

 private:
  void widen();

  std::int64_t length_ = 0;
  bool wide_ = false;
  std::vector<std::uint8_t> narrow_;
  std::vector<std::int32_t> widened_;
};

}  // namespace ubique::data
