// SPDX-License-Identifier: Apache-2.0
// Parsing YAML: the tree with its lines, and what is refused.
#include "ubique/base/text/yaml.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"

using namespace ubique;
using test::contains;

namespace {
std::string yaml_error(const std::string& text) {
  return test::error_of([&] { parse_yaml(text, "f.yaml"); });
}
std::string repeated(const std::string& part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}
}  // namespace

TEST_CASE("yaml: a document becomes a tree with the lines of its keys") {
  const auto root = parse_yaml("# comment\na: 1\nb:\n  c: [x, 'null', null]\n  d:\n", "f.yaml");
  REQUIRE(root.kind == YamlNode::Kind::Mapping);
  CHECK(root.keys == std::vector<std::string>{"a", "b"});
  CHECK(root.find("a")->text == "1");
  CHECK(root.find("a")->line == 2);
  const auto* b = root.find("b");
  REQUIRE(b != nullptr);
  CHECK(b->line == 3);
  CHECK(b->find("c")->line == 4);
  REQUIRE(b->find("c")->items.size() == 3);
  CHECK(b->find("c")->items[1].kind == YamlNode::Kind::Scalar);
  CHECK(b->find("c")->items[2].kind == YamlNode::Kind::Null);
  CHECK(b->find("d")->kind == YamlNode::Kind::Null);
  CHECK(root.find("z") == nullptr);
}

TEST_CASE("yaml: an empty text, a byte order mark and DOS lines are fine") {
  CHECK(parse_yaml("", "f").kind == YamlNode::Kind::Null);
  CHECK(parse_yaml("# nothing\n", "f").kind == YamlNode::Kind::Null);
  CHECK(parse_yaml("\xef\xbb\xbf"
                   "a: 1\n",
                   "f")
            .find("a")
            ->text == "1");
  const auto dos = parse_yaml("a: 1\r\nb: 2\r\n", "f");
  CHECK(dos.find("a")->text == "1");
  CHECK(dos.find("b")->text == "2");
}

TEST_CASE("yaml: what is not YAML is an input error with file and line") {
  const auto error = yaml_error("a: 1\nb: [1, 2\nc: 3\n");
  CHECK(contains(error, "input: [base.yaml] f.yaml:"));
  CHECK(contains(error, "is not YAML"));
  CHECK(contains(yaml_error("a: 1\n\tb: 2\n"), "f.yaml:2"));
  CHECK(yaml_error("a: 1\nb: \"open\n") ==
        "input: [base.yaml] f.yaml:2 is not YAML; a quote before here is never closed.");
  CHECK(contains(yaml_error("a: 'open"), "f.yaml:1 is not YAML; a quote"));
  CHECK(parse_yaml("a: |+\n  x\n", "f").find("a")->text == "x\n");
  CHECK(yaml_error("---\na: 1\n...\n") == "no error");
}

TEST_CASE("yaml: duplicate, empty and compound keys are refused") {
  CHECK(contains(yaml_error("a: 1\nb: 2\na: 3\n"), "f.yaml:3 has the key 'a' a second time"));
  CHECK(contains(yaml_error("x:\n  a: 1\n  a: 1\n"), "f.yaml:3"));
  CHECK(yaml_error("x:\n  a: 1\ny:\n  a: 1\n") == "no error");
  CHECK(contains(yaml_error("? [a, b]\n: 1\n"), "key that is a list"));
  CHECK(contains(yaml_error("null: 1\n"), "empty key"));
}

TEST_CASE("yaml: aliases, merge keys and second documents are refused") {
  CHECK(contains(yaml_error("a: &x 1\nb: *x\n"), "f.yaml:2 uses an alias"));
  CHECK(contains(yaml_error("<<: {a: 1}\n"), "merge key"));
  CHECK(contains(yaml_error("a: 1\n---\nb: 1\n"), "expected one document"));
  // Nine levels of nine would make four hundred million nodes.
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    const std::string before(1, static_cast<char>(c - 1)), name(1, c);
    bomb += name + ": &" + name + " [" + repeated("*" + before + ", ", 8) + "*" + before + "]\n";
  }
  CHECK(contains(yaml_error(bomb), "f.yaml:2 uses an alias"));
}

TEST_CASE("yaml: depth and length are limited") {
  CHECK(yaml_error(repeated("[", 64) + repeated("]", 64)) == "no error");
  CHECK(contains(yaml_error(repeated("[", 65) + repeated("]", 65)), "nested too deeply"));
  CHECK(contains(yaml_error(repeated("- ", 400'000)), "nested too deeply"));
  CHECK(contains(yaml_error(repeated("{", 1'000'000)), "input: [base.yaml] f.yaml:1"));
  CHECK(contains(yaml_error(repeated("#", (1U << 20U) + 1)), "too long"));
  CHECK(yaml_error(repeated("- 1\n", 200'000)) == "no error");
}

TEST_CASE("yaml: control characters are refused, not taken for the end") {
  CHECK(contains(yaml_error(std::string("a: 1\nb: \x04 2\nc: 3\n")), "f.yaml:2"));
  CHECK(contains(yaml_error(std::string("a: \0 1", 6)), "control character"));
}

TEST_CASE("yaml: any bytes give a tree or an input error") {
  const std::string alphabet = "[]{}:,-?&*!|>'\"%@`#ab1 \n\n  \xc3";
  std::uint32_t state = 1;
  const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 8U; };
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (auto left = next() % 200; left > 0; --left) text += alphabet[next() % alphabet.size()];
    const auto error = yaml_error(text);
    CAPTURE(text);
    CHECK((error == "no error" || error.starts_with("input: [base.yaml]")));
  }
}
