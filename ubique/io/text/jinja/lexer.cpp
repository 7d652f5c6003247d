// SPDX-License-Identifier: Apache-2.0
// One pass over the template; brackets are counted, so that }} may end two dictionaries.
#include "ubique/io/text/jinja/lexer.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/utf8.h"

namespace ubique::io::jinja {
namespace {

bool is_blank(char letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }
bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_name_letter(char letter) {
  const auto folded = static_cast<char>(letter | 0x20);
  return is_digit(letter) || letter == '_' || (folded >= 'a' && folded <= 'z') ||
         static_cast<unsigned char>(letter) >= 0x80U;
}

/// All line ends as \n; the last one is not part of the template.
std::string with_plain_line_ends(std::string_view source) {
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      text += source[i];
    } else if (i + 1 == source.size() || source[i + 1] != '\n') {
      text += '\n';
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  Lexer(std::string_view source, const std::string& where)
      : source_(with_plain_line_ends(source)), where_(where) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) read_text();
    add(TokenKind::End, "");
    return std::move(tokens_);
  }

 private:
  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }

  [[noreturn]] void fail_here(const std::string& what) const { stop_at(where_, line_, what); }

  /// The rest of the source from the current place.
  std::string_view rest() const { return std::string_view(source_).substr(at_); }

  void advance(std::size_t count) {
    line_ += std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                        source_.begin() + static_cast<std::ptrdiff_t>(at_ + count), '\n');
    at_ += count;
    line_start_ = at_ > 0 && source_[at_ - 1] == '\n';
  }

  /// Text up to the next {{, {% or {#, and that tag.
  void read_text() {
    auto open = at_;
    for (;; ++open) {
      open = source_.find('{', open);
      if (open == std::string::npos || open + 1 >= source_.size()) break;
      const char next = source_[open + 1];
      if (next == '{' || next == '%' || next == '#') break;
    }
    if (open == std::string::npos || open + 1 >= source_.size()) {
      add(TokenKind::Text, source_.substr(at_));
      return advance(source_.size() - at_);
    }
    const char kind = source_[open + 1];
    const char sign = open + 2 < source_.size() ? source_[open + 2] : '\0';
    const bool signed_open = sign == '-' || (sign == '+' && kind != '{');
    auto text = std::string_view(source_).substr(at_, open - at_);
    text = text.substr(0, kept_before(text, kind, sign));
    if (!text.empty()) add(TokenKind::Text, std::string(text));
    advance(open - at_ + 2 + (signed_open ? 1 : 0));
    if (kind == '#') return skip_comment();
    if (kind == '%' && read_raw()) return;
    add(kind == '{' ? TokenKind::PrintBegin : TokenKind::TagBegin, "");
    read_tag(kind == '{');
  }

  /// How much of the text before a tag stays.
  std::size_t kept_before(std::string_view text, char kind, char sign) const {
    if (sign == '-') {
      auto end = text.size();
      while (end > 0 && is_blank(text[end - 1])) --end;
      return end;
    }
    if (sign == '+' || kind == '{') return text.size();
    const auto start = text.rfind('\n') + 1;  // npos + 1 is 0
    const bool own_line = start > 0 || line_start_;
    const auto line = text.substr(start);
    return own_line && std::all_of(line.begin(), line.end(), is_blank) ? start : text.size();
  }

  /// After the end of a tag: all blanks after a minus, one line end after a tag or comment.
  void skip_after(char sign, bool trims) {
    std::size_t count = 0;
    if (sign == '-') {
      while (count < rest().size() && is_blank(rest()[count])) ++count;
    } else if (trims && sign != '+' && rest().starts_with('\n')) {
      count = 1;
    }
    if (count > 0) advance(count);
  }

  void skip_comment() {
    const auto end = source_.find("#}", at_);
    if (end == std::string::npos) fail_here("a comment is not closed; expected #}.");
    const char sign = end > at_ ? source_[end - 1] : '\0';
    advance(end + 2 - at_);
    skip_after(sign, true);
  }

  /// The length of "WORD -%}" at `place`, blanks included; 0 if something else stands there.
  std::size_t tag_word(std::size_t place, std::string_view word, char& sign) const {
    auto end = place;
    const auto skip = [&] {
      while (end < source_.size() && is_blank(source_[end])) ++end;
    };
    skip();
    if (source_.compare(end, word.size(), word) != 0) return 0;
    end += word.size();
    skip();
    sign = end < source_.size() ? source_[end] : '\0';
    if (sign == '-' || sign == '+') ++end;
    return source_.compare(end, 2, "%}") == 0 ? end + 2 - place : 0;
  }

  /// {% raw %} ... {% endraw %}: its content is text.
  bool read_raw() {
    char sign = '\0';
    const auto begin = tag_word(at_, "raw", sign);
    if (begin == 0) return false;
    advance(begin);
    skip_after(sign, false);
    for (auto open = source_.find("{%", at_); open != std::string::npos;
         open = source_.find("{%", open + 2)) {
      const char first = open + 2 < source_.size() ? source_[open + 2] : '\0';
      const auto inside = open + 2 + (first == '-' || first == '+' ? 1U : 0U);
      const auto length = tag_word(inside, "endraw", sign);
      if (length == 0) continue;
      auto text = std::string_view(source_).substr(at_, open - at_);
      add(TokenKind::Text, std::string(text.substr(0, kept_before(text, '%', first))));
      advance(inside + length - at_);
      skip_after(sign, true);
      return true;
    }
    fail_here("raw is not closed; expected {% endraw %}.");
  }

  void read_tag(bool print) {
    const std::string_view close = print ? "}}" : "%}";
    std::string brackets;
    for (;;) {
      while (at_ < source_.size() && is_blank(source_[at_])) advance(1);
      if (at_ == source_.size()) {
        fail_here(print ? "{{ is not closed; expected }}." : "{% is not closed; expected %}.");
      }
      const char sign = rest().front();
      const bool has_sign = sign == '-' || (sign == '+' && !print);
      if (brackets.empty() && rest().substr(has_sign ? 1 : 0).starts_with(close)) {
        add(print ? TokenKind::PrintEnd : TokenKind::TagEnd, "");
        advance(has_sign ? 3 : 2);
        return skip_after(has_sign ? sign : '\0', !print);
      }
      read_token(brackets);
    }
  }

  void read_token(std::string& brackets) {
    const char letter = source_[at_];
    if (letter == '"' || letter == '\'') return read_string(letter);
    if (is_digit(letter)) return read_number();
    if (is_name_letter(letter)) {
      auto end = at_;
      while (end < source_.size() && is_name_letter(source_[end])) ++end;
      add(TokenKind::Name, source_.substr(at_, end - at_));
      return advance(end - at_);
    }
    for (const std::string_view operation :
         {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
          "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"}) {
      if (!rest().starts_with(operation)) continue;
      balance(letter, brackets);
      add(TokenKind::Operator, std::string(operation));
      return advance(operation.size());
    }
    fail_here("unexpected character; got '" +
              printable(rest().substr(0, code_point_at(source_, at_).length)) + "'.");
  }

  void balance(char letter, std::string& brackets) const {
    if (letter == '(') brackets += ')';
    if (letter == '[') brackets += ']';
    if (letter == '{') brackets += '}';
    if (letter != ')' && letter != ']' && letter != '}') return;
    if (brackets.empty() || brackets.back() != letter) {
      fail_here(std::string("unexpected '") + letter + "'" +
                (brackets.empty() ? "." : std::string("; expected '") + brackets.back() + "'."));
    }
    brackets.pop_back();
  }

  void read_number() {
    const bool after_dot = !tokens_.empty() && tokens_.back().is(".");
    auto end = at_;
    const auto digits = [&] {
      while (end < source_.size() && (is_digit(source_[end]) || source_[end] == '_')) ++end;
    };
    const auto digit_at = [&](std::size_t place) {
      return place < source_.size() && is_digit(source_[place]);
    };
    digits();
    bool real = false;
    if (!after_dot && end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
      ++end;
      digits();
      real = true;
    }
    if (!after_dot && end < source_.size() && (source_[end] | 0x20) == 'e') {
      const bool sign =
          end + 1 < source_.size() && (source_[end + 1] == '-' || source_[end + 1] == '+');
      if (digit_at(end + (sign ? 2 : 1))) {
        end += sign ? 2 : 1;
        digits();
        real = true;
      }
    }
    auto text = source_.substr(at_, end - at_);
    std::erase(text, '_');
    add(real ? TokenKind::Float : TokenKind::Integer, std::move(text));
    advance(end - at_);
  }

  void read_string(char quote) {
    std::string text;
    auto end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) {
      if (source_[end] == '\\' && end + 1 < source_.size()) {
        end = add_escaped(end + 1, text);
      } else {
        text += source_[end++];
      }
    }
    if (end == source_.size()) fail_here(std::string("a string is not closed; expected ") + quote);
    add(TokenKind::String, std::move(text));
    advance(end + 1 - at_);
  }

  /// The escape whose letter stands at `place`; returns the place after it.
  std::size_t add_escaped(std::size_t place, std::string& text) const {
    const char letter = source_[place];
    constexpr std::string_view kLetters = "nrtbfva\\'\"", kMeant = "\n\r\t\b\f\v\a\\'\"";
    if (const auto known = kLetters.find(letter); known != std::string_view::npos) {
      text += kMeant[known];
      return place + 1;
    }
    if (letter == '\n') return place + 1;
    const std::size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    char32_t point = 0;
    for (std::size_t i = 1; i <= digits; ++i) {
      const char digit =
          place + i < source_.size() ? static_cast<char>(source_[place + i] | 0x20) : ' ';
      const bool hex = is_digit(digit) || (digit >= 'a' && digit <= 'f');
      if (!hex) fail_here("an escape in a string is cut short.");
      point = point * 16 + static_cast<char32_t>(is_digit(digit) ? digit - '0' : digit - 'a' + 10);
    }
    if (digits == 0) {  // Python keeps what it does not know
      text += '\\';
      text += letter;
      return place + 1;
    }
    if (point > 0x10FFFF) fail_here("an escape in a string is beyond U+10FFFF.");
    append_utf8(text, point);
    return place + 1 + digits;
  }

  const std::string source_;
  const std::string& where_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  bool line_start_ = true;
};

}  // namespace

void stop_at(const std::string& where, std::int64_t line, const std::string& what) {
  fail(ErrorKind::Input, "[io.jinja] {} line {}: {}", where, line, what);
}

std::vector<Token> tokens_of(std::string_view source, const std::string& where) {
  return Lexer(source, where).run();
}

}  // namespace ubique::io::jinja
