// SPDX-License-Identifier: Apache-2.0
// Sizes, numbers, splitting, edit distance and wrapping.
#include "ubique/base/text/text.h"

#include <doctest/doctest.h>

using namespace ubique;
using Strings = std::vector<std::string>;

TEST_CASE("text: a word of megabytes is no misspelt one") {
  const std::vector<std::string> known = {"device"};
  CHECK(did_you_mean("devcie", known) == "device");
  CHECK(!did_you_mean(std::string(1 << 20, 'd'), known));
}

TEST_CASE("text: sizes are formatted in powers of 1024") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(1023) == "1023 B");
  CHECK(human_bytes(1536) == "1.5 KiB");
  CHECK(human_bytes(36LL << 30) == "36.0 GiB");
  CHECK(human_bytes(-2048) == "-2.0 KiB");
}

TEST_CASE("text: sizes are parsed in all usual spellings") {
  CHECK(parse_bytes("1024") == 1024);
  CHECK(parse_bytes("36GiB") == 36LL << 30);
  CHECK(parse_bytes(" 8 GB ") == 8000000000);
  CHECK(parse_bytes("512m") == 512LL << 20);
  CHECK(parse_bytes("1.5K") == 1536);
  CHECK(parse_bytes("2tib") == 2LL << 40);
  CHECK(parse_bytes("7 b") == 7);
  for (const auto* wrong :
       {"", "GiB", "-1", "1.2.3", "1 XB", "1 GiBs", "99999999T", "\xff", "1e3"}) {
    CAPTURE(std::string(wrong));
    CHECK_FALSE(parse_bytes(wrong).has_value());
  }
}

TEST_CASE("text: numbers are decimal and finite, with or without an exponent") {
  CHECK(parse_number("3") == 3.0);
  CHECK(parse_number("+3") == 3.0);
  CHECK(parse_number("-2.5") == -2.5);
  CHECK(parse_number(".5") == 0.5);
  CHECK(parse_number("5.") == 5.0);
  CHECK(parse_number("1e-5") == 1e-5);
  CHECK(parse_number("1E5") == 1e5);
  CHECK(parse_number("0.1") == 0.1);
  for (const auto* wrong : {"", ".", "-", "e5", "1e", "1e+", "1_000", "0x10", "inf", "nan", "1e999",
                            "1,5", "1 2", " 1", "1f", "--1"}) {
    CAPTURE(std::string(wrong));
    CHECK_FALSE(parse_number(wrong).has_value());
  }
}

TEST_CASE("text: joining, splitting and trimming") {
  CHECK(join({"a", "b"}, ", ") == "a, b");
  CHECK(join({}, ", ").empty());
  CHECK(split(" a, b ,,c", ',') == Strings{"a", "b", "c"});
  CHECK(split("", ',').empty());
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim("  ").empty());
  CHECK(lowercase("AbC-É") == "abc-É");
}

TEST_CASE("text: the edit distance counts swaps of neighbours as one") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("cuda", "cdua") == 1);
  CHECK(edit_distance("same", "same") == 0);
}

TEST_CASE("text: a near candidate is named, a far one is not") {
  const Strings names{"cuda", "cpu", "mps", "metal"};
  CHECK(did_you_mean("cdua", names) == "cuda");
  CHECK(did_you_mean("METAL", names) == "metal");
  CHECK_FALSE(did_you_mean("vulkan", names).has_value());
  CHECK_FALSE(did_you_mean("x", {"y"}).has_value());
  CHECK(hint("cpuu", names) == " Did you mean 'cpu'?");
  CHECK(hint("vulkan", names).empty());
}

TEST_CASE("text: width counts code points, and wrapping breaks at blanks") {
  CHECK(display_width("─é█") == 3);
  CHECK(wrap("one two three", 7) == Strings{"one two", "three"});
  CHECK(wrap("unbreakable", 4) == Strings{"unbreakable"});
  CHECK(wrap("", 4) == Strings{""});
}
