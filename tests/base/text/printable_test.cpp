// SPDX-License-Identifier: Apache-2.0
// Foreign text made safe for a terminal.
#include "ubique/base/text/printable.h"

#include <doctest/doctest.h>

using namespace ubique;

TEST_CASE("printable: control characters are escaped") {
  CHECK(printable("grün/a.b") == "grün/a.b");
  CHECK(printable("a\x1b[0m\n\x7f") == "a\\x1b[0m\\x0a\\x7f");
  CHECK(printable("\xC2\x9B") == "\\x9b");
  CHECK(printable("a\xff\xC3z") == "a\\xff\\xc3z");  // no UTF-8
  CHECK(printable("\xC2\xA0") == "\xC2\xA0");
  CHECK(printable("abcdef", 3) == "abc…");
  CHECK(printable("äöü", 3) == "äö…");  // never half a letter
}

TEST_CASE("printable: characters that turn the reading direction are escaped") {
  CHECK(printable("a\u202Eb") == "a\\u{202e}b");
  CHECK(printable("\u2066\u2028") == "\\u{2066}\\u{2028}");
  CHECK(printable("\u200D\u05D0") == "\u200D\u05D0");  // joined emoji and Hebrew stay
}

TEST_CASE("printable: of whole lines the line ends and tabs stay") {
  CHECK(printable_lines("a\tb\nc\r\x1b[2J") == "a\tb\nc\\x0d\\x1b[2J");
  CHECK(printable_lines(std::string(5000, 'y')) == std::string(5000, 'y'));
  CHECK(printable_lines("abcdef", 3) == "abc…");
  CHECK(printable_lines(printable_lines("\x1b\xff")) == "\\x1b\\xff");  // twice is once
}
