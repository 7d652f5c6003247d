// SPDX-License-Identifier: Apache-2.0
// Streaming decode: bytes of tokens become text as soon as their UTF-8 characters are complete.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace ubique::nn {

/// Receives text as it comes, whole characters only; returns false to stop.
using ShowText = std::function<bool(std::string_view)>;

class TextStream {
 public:
  /// Everything that is shown is appended to `text` too; both must outlive this.
  TextStream(std::string& text, const ShowText& show) : text_(text), show_(show) {}

  bool add(std::string_view bytes);  ///< false: stop
  bool finish();  ///< shows the rest, with U+FFFD for an incomplete character; false: stop

 private:
  bool pass(std::size_t length);

  std::string& text_;
  const ShowText& show_;
  std::string pending_;
};

}  // namespace ubique::nn
