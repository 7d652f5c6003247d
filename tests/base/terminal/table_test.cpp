// SPDX-License-Identifier: Apache-2.0
// Table layout: widths, cells of several lines, wrapping.
#include "ubique/base/terminal/table.h"

#include <doctest/doctest.h>

using namespace ubique;

TEST_CASE("table: columns fit their widest cell, without trailing blanks") {
  Table table({"device", "memory"});
  CHECK(table.empty());
  table.add_row({"cpu", "64 GiB"});
  table.add_row({"NVIDIA é", ""});
  CHECK_FALSE(table.empty());
  CHECK(table.to_text() ==
        "device    memory\n"
        "────────────────\n"
        "cpu       64 GiB\n"
        "NVIDIA é\n");
}

TEST_CASE("table: a cell of several lines and a wrapped one share their row") {
  Table table({"a", "b", "c"});
  table.limit_width(2, 7);
  table.add_row({"1\n2\n3", "x", "one two three"});
  table.add_row({"4"});
  CHECK(table.to_text() ==
        "a  b  c\n"
        "─────────────\n"
        "1  x  one two\n"
        "2     three\n"
        "3\n"
        "4\n");
}

TEST_CASE("table: cells beyond the header are dropped") {
  Table table({"a"});
  table.add_row({"1", "2"});
  CHECK(table.to_text() == "a\n─\n1\n");
}

TEST_CASE("table: foreign text is escaped, and the columns stay straight") {
  Table table({"a", "b"});
  table.add_row({"\x1b[2J", "x"});
  CHECK(table.to_text() == "a        b\n──────────\n\\x1b[2J  x\n");
}
