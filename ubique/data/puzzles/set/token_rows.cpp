// SPDX-License-Identifier: Apache-2.0
// Byte or i32 storage of token rows.
#include "ubique/data/puzzles/set/token_rows.h"

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::data {

std::int64_t TokenRows::count() const {
  const auto tokens = wide_ ? widened_.size() : narrow_.size();
  return length_ == 0 ? 0 : static_cast<std::int64_t>(tokens) / length_;
}

std::int32_t TokenRows::at(std::int64_t row, std::int64_t column) const {
  const auto index = static_cast<std::size_t>(row * length_ + column);
  return wide_ ? widened_[index] : narrow_[index];
}

void TokenRows::copy(std::int64_t row, std::span<std::int32_t> out) const {
  check(row >= 0 && row < count() && out.size() == static_cast<std::size_t>(length_),
        ErrorKind::Internal, "[data.tokens] row {} of {} into a buffer of {} for {} tokens.", row,
        count(), out.size(), length_);
  const auto first = row * length_;
  if (wide_) {
    std::copy_n(widened_.begin() + first, length_, out.begin());
  } else {
    std::copy_n(narrow_.begin() + first, length_, out.begin());
  }
}

std::vector<std::int32_t> TokenRows::row(std::int64_t row) const {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(length_));
  copy(row, tokens);
  return tokens;
}

void TokenRows::reserve(std::int64_t rows) {
  const auto tokens = static_cast<std::size_t>(rows * length_);
  wide_ ? widened_.reserve(tokens) : narrow_.reserve(tokens);
}

void TokenRows::append(std::span<const std::int32_t> tokens) {
  check(length_ > 0 && tokens.size() % static_cast<std::size_t>(length_) == 0, ErrorKind::Internal,
        "[data.tokens] got {} tokens, expected rows of {}.", tokens.size(), length_);
  if (wide_) {
    widened_.insert(widened_.end(), tokens.begin(), tokens.end());
    return;
  }
  for (const auto token : tokens) {
    check(token >= 0 && token <= 255, ErrorKind::Internal,
          "[data.tokens] got token {}, expected 0 to 255.", token);
    narrow_.push_back(static_cast<std::uint8_t>(token));
  }
}

void TokenRows::append(const TokenRows& more) {
  check(more.length_ == length_, ErrorKind::Internal, "[data.tokens] rows of {} after rows of {}.",
        more.length_, length_);
  if (more.wide_) widen();
  if (!wide_) {
    narrow_.insert(narrow_.end(), more.narrow_.begin(), more.narrow_.end());
  } else if (more.wide_) {
    widened_.insert(widened_.end(), more.widened_.begin(), more.widened_.end());
  } else {
    widened_.insert(widened_.end(), more.narrow_.begin(), more.narrow_.end());
  }
}

void TokenRows::widen() {
  if (wide_) return;
  widened_.assign(narrow_.begin(), narrow_.end());
  narrow_ = {};
  wide_ = true;
}

}  // namespace ubique::data
