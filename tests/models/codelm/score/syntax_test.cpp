// SPDX-License-Identifier: Apache-2.0
// Completions are cut at the end of a statement, and judged.
#include "ubique/models/codelm/score/syntax.h"

#include <doctest/doctest.h>

#include "ubique/base/files/process.h"

using namespace ubique::codelm;

TEST_CASE("syntax: a completion ends with its first statement, at a line's end") {
  CHECK(first_statement("def f(x):\n    return x\n\ny = 1\nz") == "def f(x):\n    return x\n\n");
  CHECK(first_statement("def f(x):\n    return x\n    y = (") == "def f(x):\n    return x\n");
  CHECK(first_statement("if a:\n    b\nelse:\n    c\nd\n") == "if a:\n    b\nelse:\n    c\n");
  CHECK(first_statement("@property\ndef f(self):\n    pass\nx = 1\n") ==
        "@property\ndef f(self):\n    pass\n");
  CHECK(first_statement("x = 1") == "x = 1");
  CHECK(first_statement("").empty());
}

TEST_CASE("syntax: brackets match outside of strings and comments") {
  CHECK(brackets_match("f(a[1], {2}) # (", "#"));
  CHECK(brackets_match("f('(', \"[\\\"\")", "#"));
  CHECK(brackets_match("int f(); // ]\n", "//"));
  CHECK(!brackets_match("f(a]", "#"));
  CHECK(!brackets_match("f(", "#"));
  CHECK(!brackets_match(")", "#"));
  CHECK(brackets_match("", "#"));
}

TEST_CASE("syntax: Python's parser judges without executing") {
  if (!ubique::find_program("python3")) {
    MESSAGE("skipped: no python3");
    return;
  }
  CHECK(python_parses("raise SystemExit(3)\n"));
  CHECK(!python_parses("def f(:\n"));
  CHECK(!python_parses(std::string("x = 1\0", 6)));
}
