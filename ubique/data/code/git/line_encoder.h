// SPDX-License-Identifier: Apache-2.0
// Encodes the texts of a history. Most of their lines come again: in both sides of a change, in the
// next change beside it, in the file as it is now. The tokens of a line are remembered, and that no
// secret begins in it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ubique/data/code/text_encoder.h"
#include "ubique/io/text/words/word_cache.h"

namespace ubique::data {

class LineEncoder {
 public:
  /// The encoder must outlive this.
  explicit LineEncoder(TextEncoder& encoder);

  const io::Tokenizer& tokenizer() const { return encoder_.tokenizer(); }
  /// Appends the same tokens as TextEncoder::encode. True if no secret begins in the text, neither
  /// in its bytes nor in those of the tokens (may_begin_secret() in filter/secrets.h).
  bool encode(std::string_view text, std::vector<std::int32_t>& out);

 private:
  bool encode_line(const io::WordCache::Key& line, std::vector<std::int32_t>& out);

  TextEncoder& encoder_;
  bool gives_text_back_;  // the bytes of the tokens are those of the text
  io::WordCache lines_;   // those in which no secret begins
};

}  // namespace ubique::data
