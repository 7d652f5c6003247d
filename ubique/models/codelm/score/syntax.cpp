// SPDX-License-Identifier: Apache-2.0
// Cutting completions, counting brackets, and asking Python.
#include "ubique/models/codelm/score/syntax.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/files/process.h"

namespace ubique::codelm {
namespace {

/// Does a statement end before this line? Indented lines, closing brackets and the branches of
/// an earlier statement belong to it.
bool begins_statement(std::string_view line) {
  if (line.empty() || std::string_view(" \t)]}#\r").find(line.front()) != std::string_view::npos) {
    return false;
  }
  for (const std::string_view branch : {"else", "elif", "except", "finally"}) {
    if (line.starts_with(branch)) return false;
  }
  return true;
}

/// Behind a string that begins at `at`; the end of the line if it is not closed there.
std::size_t after_string(std::string_view text, std::size_t at) {
  const auto quote = text[at++];
  while (at < text.size() && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  return at;
}

}  // namespace

std::string first_statement(std::string_view text) {
  const auto last = text.rfind('\n');
  if (last == std::string_view::npos) return std::string(text);
  const auto whole = text.substr(0, last + 1);
  bool begun = false;
  for (std::size_t at = 0; at < whole.size();) {
    const auto next = whole.find('\n', at) + 1;
    const auto line = whole.substr(at, next - 1 - at);
    // A decorator is followed by what it decorates.
    if (begun && begins_statement(line)) return std::string(whole.substr(0, at));
    begun = begun || (begins_statement(line) && line.front() != '@');
    at = next;
  }
  return std::string(whole);
}

bool brackets_match(std::string_view text, std::string_view comment) {
  std::string open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = text[i];
    if (text.substr(i).starts_with(comment)) {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"' || c == '\'') {
      i = after_string(text, i);
    } else if (const auto opens = std::string_view("([{").find(c); opens != std::string::npos) {
      open += ")]}"[opens];
    } else if (std::string_view(")]}").find(c) != std::string_view::npos) {
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

bool python_parses(const std::string& text) {
  if (text.find('\0') != std::string::npos) return false;
  const auto code = run_program({"python3", "-c", "import ast, sys; ast.parse(sys.argv[1])", text});
  check(code.has_value(), ErrorKind::Internal, "[codelm.syntax] there is no python3.");
  return *code == 0;
}

}  // namespace ubique::codelm
