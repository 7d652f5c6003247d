// SPDX-License-Identifier: Apache-2.0
// Text that remembers which of its bytes were given from outside (a user's message) and which the
// template wrote. Only the template's own bytes may become special tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ubique::io::jinja {

/// Bytes [begin, end) were given; `source` is the number of the message that they come from.
struct TracedSpan {
  std::size_t begin = 0, end = 0;
  std::int32_t source = 0;
  bool operator==(const TracedSpan&) const = default;
};

class TracedText {
 public:
  TracedText() = default;
  /// The template's own text.
  explicit TracedText(std::string own) : bytes_(std::move(own)) {}
  static TracedText given(std::string bytes, std::int32_t source);

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  /// In order, not empty, not overlapping.
  const std::vector<TracedSpan>& spans() const { return spans_; }

  void append(std::string_view own) { bytes_ += own; }
  void append(const TracedText& more);
  /// Bytes [begin, end).
  TracedText slice(std::size_t begin, std::size_t end) const;
  /// `bytes` computed from this text: all of them count as given if any byte here was.
  TracedText derived(std::string bytes) const;

 private:
  std::string bytes_;
  std::vector<TracedSpan> spans_;
};

}  // namespace ubique::io::jinja
