// SPDX-License-Identifier: Apache-2.0
// Holds back the bytes of incomplete UTF-8 characters.
#include "ubique/nn/decode/text_stream.h"

#include "ubique/base/text/utf8.h"

namespace ubique::nn {

bool TextStream::add(std::string_view bytes) {
  pending_ += bytes;
  return pass(complete_utf8(pending_));
}

bool TextStream::finish() { return pass(pending_.size()); }

bool TextStream::pass(std::size_t length) {
  const auto ready = replace_invalid_utf8(std::string_view(pending_).substr(0, length));
  pending_.erase(0, length);
  text_ += ready;
  return ready.empty() || !show_ || show_(ready);
}

}  // namespace ubique::nn
