// SPDX-License-Identifier: Apache-2.0
// Parsing and quoting of CSV.
#include "ubique/base/text/csv.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"

using namespace ubique;

TEST_CASE("CSV: quotes, blanks, carriage returns and a byte order mark") {
  const auto lines = parse_csv("\xEF\xBB\xBF a , \"b, \"\"c\"\"\"\r\n\n1,\n\"two\nlines\",3", "it");
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].fields == std::vector<std::string>{"a", "b, \"c\""});
  CHECK(lines[1].fields == std::vector<std::string>{"1", ""});
  CHECK(lines[1].number == 3);
  CHECK(lines[2].fields[0] == "two\nlines");
  CHECK(csv_field("x\"y") == "\"x\"\"y\"");
  CHECK(parse_csv("", "it").empty());
  const auto message = test::refusal_of(ErrorKind::Input, [] { parse_csv("a\n\"b", "boxes.csv"); });
  CHECK(test::contains(message, "boxes.csv line 2"));
}
