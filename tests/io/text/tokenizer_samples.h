// SPDX-License-Identifier: Apache-2.0
// A small tokenizer built by hand: all bytes, a few merges, one special token.
#pragma once

#include <string>
#include <vector>

#include "ubique/io/text/tokenizer.h"
#include "ubique/io/text/tokenizer_bytes.h"

namespace ubique::test {

/// Ids: 0..255 the bytes by value, then th, he, the, Ġthe, ll, then <|end|>.
inline io::TokenizerModel small_tokenizer() {
  io::TokenizerModel model;
  std::int32_t id = 0;
  for (int byte = 0; byte < 256; ++byte) {
    model.vocabulary.emplace_back(io::visible_bytes(std::string(1, static_cast<char>(byte))), id++);
  }
  for (const auto& [left, right] : std::vector<std::pair<std::string, std::string>>{
           {"t", "h"}, {"h", "e"}, {"th", "e"}, {"Ġ", "the"}, {"l", "l"}}) {
    model.merges.emplace_back(left, right);
    model.vocabulary.emplace_back(left + right, id++);
  }
  model.added.push_back({.id = id, .content = "<|end|>"});
  return model;
}

inline constexpr std::int32_t kThe = 258, kBlankThe = 259, kEnd = 261;

}  // namespace ubique::test
