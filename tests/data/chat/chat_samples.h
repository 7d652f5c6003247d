// SPDX-License-Identifier: Apache-2.0
// A tokenizer of bytes and chat markers, for tests.
#pragma once

#include <string>
#include <vector>

#include "ubique/data/chat/chat_set.h"

namespace ubique::test {

/// One token per byte: lengths can be counted by hand.
inline io::Tokenizer byte_tokenizer() {
  return io::Tokenizer(data::train_chat_tokenizer({}, 256 + 10));
}

inline io::Turn asks(const std::string& text) { return {io::Role::User, text}; }
inline io::Turn says(const std::string& text) { return {io::Role::Assistant, text}; }

}  // namespace ubique::test
