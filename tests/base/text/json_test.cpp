// SPDX-License-Identifier: Apache-2.0
// Parsing JSON: round trip, errors with positions, limits.
#include "ubique/base/text/json.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"

using namespace ubique;
using test::contains;

namespace {
std::string json_error(const std::string& text) {
  return test::error_of([&] { parse_json(text, "plan.json"); });
}
}  // namespace

TEST_CASE("json: what is written reads back, in the order of writing") {
  const auto document = parse_json(R"({"b": [1, 2.5, null], "a": "é"})", "text");
  CHECK(document.dump() == R"({"b":[1,2.5,null],"a":"é"})");
}

TEST_CASE("json: an error names line and column") {
  const auto error = json_error("{\"a\": 1,\n \"b\": x}");
  CHECK(contains(error, "input: [base.json] plan.json is not JSON; line 2 column 7: "));
  CHECK(contains(error, "invalid literal"));
  CHECK(contains(json_error(""), "line 1 column 1"));
  CHECK(contains(json_error("[1] 2"), "line 1 column 5"));
  CHECK(contains(json_error("{\"a\": \"\xff\"}"), "invalid"));
  CHECK_FALSE(contains(json_error("{\"a\": \"\xff\"}"), "\xff"));
  CHECK(contains(json_error("[1e999]"), "input: [base.json] plan.json is not JSON"));
  CHECK_FALSE(contains(json_error("nul"), "json.exception"));
}

TEST_CASE("json: nesting is limited, brackets in text do not count") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(json_error(nested(128)) == "no error");
  CHECK(contains(json_error(nested(129)), "is nested too deeply; expected at most 128 levels"));
  CHECK(contains(json_error(std::string(1'000'000, '[')), "nested too deeply"));
  CHECK(json_error("[\"" + std::string(1000, '[') + "\\\"[\"]") == "no error");
}

TEST_CASE("json: a key that an object has twice is refused") {
  CHECK(contains(json_error(R"({"a": 1, "b": {"a": 2, "a": 3}})"), "has the key \"a\" twice"));
  CHECK(json_error(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]})") == "no error");
}

TEST_CASE("json: all kinds of values survive, and an object of many keys keeps their order") {
  const std::string all =
      R"([null,true,-1,18446744073709551615,1.5,"\u00e9",[],{},{"x":[{"y":[]}]}])";
  CHECK(parse_json(all, "all").dump() ==
        R"([null,true,-1,18446744073709551615,1.5,"é",[],{},{"x":[{"y":[]}]}])");
  CHECK(parse_json("7", "number") == 7);
  std::string many = "{";
  for (int i = 0; i < 100'000; ++i) many += fmt::format("{}\"k{}\":{}", i > 0 ? "," : "", i, i);
  many += "}";
  CHECK(parse_json(many, "many").dump() == many);
}

TEST_CASE("json: a document starts with its schema") {
  CHECK(json_document("info", 2).dump() == R"({"schema":"ubique.info","schema_version":2})");
}

TEST_CASE("json: the text of a document with a path that is not UTF-8 shows U+FFFD in its place") {
  const Json document = {{"path", "a\xff\xfe.png"}, {"n", 1}};
  CHECK(json_text(document) == "{\"path\":\"a\xEF\xBF\xBD\xEF\xBF\xBD.png\",\"n\":1}");
  CHECK(json_text({{"n", 1}}, 2) == "{\n  \"n\": 1\n}");
  CHECK(json_text("\xc3") == "\"\xEF\xBF\xBD\"");
}

TEST_CASE("json: the text of a document has no control characters, and is read back as it was") {
  const Json document = {{"name", "a\x1b[2J\x7f\u009b\u00a0é"}};
  CHECK(json_text(document) == "{\"name\":\"a\\u001b[2J\\u007f\\u009b\u00a0é\"}");
  CHECK(parse_json(json_text(document), "it") == document);
}
