// SPDX-License-Identifier: Apache-2.0
// Cuts a template into text and the tokens inside {{ }} and {% %}, with the whitespace control that
// transformers sets: trim_blocks and lstrip_blocks on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io::jinja {

enum class TokenKind {
  Text,
  PrintBegin,
  PrintEnd,
  TagBegin,
  TagEnd,
  Name,
  String,
  Integer,
  Float,
  Operator,
  End
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string text;  ///< of a string: its value, escapes resolved
  std::int64_t line = 1;

  bool is(std::string_view operation) const {
    return kind == TokenKind::Operator && text == operation;
  }
  bool is_name(std::string_view name) const { return kind == TokenKind::Name && text == name; }
};

/// Ends with a token of kind End. Input error with the line for what is not closed or no token.
std::vector<Token> tokens_of(std::string_view source, const std::string& where);

/// "[io.jinja] WHERE line N: ...".
[[noreturn]] void stop_at(const std::string& where, std::int64_t line, const std::string& what);

}  // namespace ubique::io::jinja
