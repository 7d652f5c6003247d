// SPDX-License-Identifier: Apache-2.0
// The template language by itself: what it computes (tests/peers compares with Jinja at length),
// and templates that are damaged, endless, deep or huge.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/text/json.h"
#include "ubique/io/text/jinja/parser.h"
#include "ubique/io/text/jinja/template.h"

using namespace ubique;
using test::contains;
using test::refusal_of;

namespace {

std::string rendered(const std::string& source, const std::string& variables = "{}") {
  const auto values = io::jinja::from_json(parse_json(variables, "variables"));
  return io::jinja::Template(source, "t").render(*values.dict(), 0).text.bytes();
}

std::string refused(const std::string& source, const std::string& variables = "{}") {
  return refusal_of(ErrorKind::Input, [&] { (void)rendered(source, variables); });
}

std::string repeated_text(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("jinja: values print as Python's") {
  CHECK(rendered("{{ [1, 2.0, none, true, 'a', \"it's\", (1,), {'k': []}] }}") ==
        "[1, 2.0, None, True, 'a', \"it's\", (1,), {'k': []}]");
  CHECK(rendered("{{ x }}|{{ 7 // -2 }}|{{ -7 % 3 }}|{{ 1 / 4 }}|{{ 2 ** 10 }}|{{ 1e20 }}") ==
        "|-4|2|0.25|1024|1e+20");
  CHECK(rendered("{{ 'Grüße'[1:3] ~ 'Grüße' | length }}") == "rü5");
  CHECK(rendered("{{ d | tojson }}", R"({"d": {"a": [1, "é\n"], "b": null}})") ==
        R"({"a": [1, "é\n"], "b": null})");
}

TEST_CASE("jinja: loops, namespaces, macros and blocks") {
  CHECK(rendered("{% for i in [3, 4] if i > 3 %}{{ loop.index }}:{{ i }}{% else %}-{% endfor %}") ==
        "1:4");
  CHECK(rendered("{% set n = namespace(s=0) %}{% for i in range(4) %}{% set n.s = n.s + i %}"
                 "{% endfor %}{{ n.s }}") == "6");
  CHECK(rendered("{% macro m(a, b='!') %}{{ a ~ b }}{% endmacro %}{{ m('x') ~ m('y', b='?') }}") ==
        "x!y?");
  CHECK(rendered("{% set x %} a {% endset %}{{ x | trim }}{% filter upper %}b{% endfilter %}") ==
        "aB");
}

TEST_CASE("jinja: blanks around tags go as transformers sets them") {
  CHECK(rendered("a\n  {% if true %}\n  b\n  {% endif %}\nc\n") == "a\n  b\nc");
  CHECK(rendered("a {%- if true -%} b {%- endif %} c{# no #}\nd") == "ab cd");
  CHECK(rendered("{{ 1 }}\n{{- 2 -}}\n{{ 3 }}") == "123");
}

TEST_CASE("jinja: generation blocks are marked in the text") {
  const io::jinja::Template made("a{% generation %}bc{% endgeneration %}d", "t");
  CHECK(made.marks_generation());
  const auto text = made.render({}, 0);
  CHECK(text.text.bytes() == "abcd");
  REQUIRE(text.generated.size() == 1);
  CHECK(text.generated[0] == std::pair<std::size_t, std::size_t>{1, 3});
}

TEST_CASE("jinja: what is damaged is named with its line") {
  CHECK(contains(refused("a\n{% if x %}"), "t line 2: a block is not closed; expected {% elif"));
  CHECK(contains(refused("\n\n{{ x "), "line 3: {{ is not closed"));
  CHECK(contains(refused("{% for x in y %}{% endif %}"), "unexpected 'endif'"));
  CHECK(contains(refused("{# x"), "comment is not closed"));
  CHECK(contains(refused("{% raw %}x"), "raw is not closed"));
  CHECK(contains(refused("{{ 'x }}"), "string is not closed"));
  CHECK(contains(refused("{{ (1] }}"), "unexpected ']'; expected ')'"));
  CHECK(contains(refused("{{ 1 $ 2 }}"), "unexpected character; got '$'"));
  CHECK(contains(refused("{% include 'x' %}"), "unexpected 'include'"));
  CHECK(contains(refused("{% break %}"), "outside a loop"));
  CHECK(contains(refused("{{ 99999999999999999999 }}"), "integer is too large"));
  CHECK(contains(refused("{{ '\\uD8' }}"), "cut short"));
}

TEST_CASE("jinja: what cannot be computed is named with its line") {
  CHECK(contains(refused("\n{{ x.y }}"), "line 2: 'x' is undefined"));
  CHECK(contains(refused("{{ 1 + 'a' }}"), "'+' does not work with an integer and a string"));
  CHECK(contains(refused("{{ x + 'a' }}"), "'x' is undefined"));
  CHECK(contains(refused("{{ 1 // 0 }}"), "division by zero"));
  CHECK(contains(refused("{{ 9223372036854775807 + 1 }}"), "too large"));
  CHECK(contains(refused("{{ (-9223372036854775807 - 1) // -1 }}"), "too large"));
  CHECK(contains(refused("{{ x | nosuch }}"), "no filter 'nosuch'"));
  CHECK(contains(refused("{{ 1 is nosuch }}"), "no test 'nosuch'"));
  CHECK(contains(refused("{{ [1].append(2) }}"), "'append' of a list is called"));
  CHECK(contains(refused("{{ raise_exception('no \x1b[1m') }}"),
                 "refuses the conversation: no \\x1b"));
  CHECK(contains(refused("{{ strftime_now('%Q') }}"), "strftime_now"));
  CHECK(contains(refused("{% set n.x = 1 %}"), "only a namespace's attributes"));
  CHECK(contains(refused("{{ 'a'.__class__.__mro__ }}"), "undefined"));
}

TEST_CASE("jinja: templates that never end or grow without end are stopped") {
  CHECK(contains(refused("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), "too deep"));
  CHECK(contains(refused("{{ range(1000000000) | length }}"), "range is too long"));
  CHECK(contains(refused("{{ range(0, 9223372036854775807, 1) }}"), "range is too long"));
  CHECK(rendered("{{ range(0, 9223372036854775807, 9223372036854775807) }}") == "[0]");
  CHECK(contains(refused(repeated_text("{% for i in range(99999) %}", 3) + "x" +
                         repeated_text("{% endfor %}", 3)),
                 "does too much"));
  CHECK(contains(refused("{{ 'x' * 99999999999 }}"), "too often"));
  CHECK(contains(refused("{{ 'x' * 4000000000 }}"), "does too much"));
  CHECK(contains(refused("{% set n = namespace(x='ab') %}{% for i in range(99) %}"
                         "{% set n.x = n.x + n.x %}{% endfor %}"),
                 "does too much"));
  CHECK(contains(refused("{% set n = namespace(x=[1]) %}{% for i in range(99) %}"
                         "{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}"),
                 "too large"));
  CHECK(contains(refused("{% set n = namespace(x=[1]) %}{% for i in range(999) %}"
                         "{% set n.x = [n.x] %}{% endfor %}"),
                 "nested too deeply"));
  CHECK(
      contains(refused("{% set n = namespace() %}{% set n.x = n %}"), "namespace cannot be kept"));
  CHECK(contains(refused("{{ ('a,' * 200000).replace('a', 'b' * 1000) }}"), "does too much"));
  CHECK(contains(refused("{{ [[[1]]] | tojson(indent=99999) }}"), "indent is out of range"));
  CHECK(contains(refused("{{ 9 ** 99 }}"), "too large"));
  CHECK(contains(refused("{{ 'a' | indent(99999999) }}"), "width is out of range"));
}

TEST_CASE("jinja: deep and long templates are refused, wide ones are not") {
  CHECK(contains(refused("{{ " + repeated_text("(", 500) + "1" + repeated_text(")", 500) + " }}"),
                 "nested too deeply"));
  CHECK(contains(refused("{{ " + repeated_text("[", 500) + repeated_text("]", 500) + " }}"),
                 "nested too deeply"));
  CHECK(contains(refused("{{ " + repeated_text("not ", 5000) + "1 }}"), "nested too deeply"));
  CHECK(contains(refused("{{ " + repeated_text("-", 5000) + "1 }}"), "nested too deeply"));
  CHECK(contains(refused(repeated_text("{% if 1 %}", 5000)), "nested too deeply"));
  CHECK(contains(refused("{{ 1" + repeated_text(" + 1", 5000) + " }}"), "expression is too long"));
  CHECK(contains(refused("{{ x" + repeated_text(".x", 5000) + " }}"), "expression is too long"));
  CHECK(contains(refused("{{ x" + repeated_text("|trim", 5000) + " }}"), "expression is too long"));
  CHECK(contains(refused(std::string(io::jinja::kLongestTemplate + 1, 'x')), "too long"));
  CHECK(rendered(repeated_text("{{ 1 }}", 5000)).size() == 5000);
  CHECK(rendered("{% if 0 %}" + repeated_text("{% elif 0 %}", 5000) + "{% else %}x{% endif %}") ==
        "x");
}

TEST_CASE("jinja: a template cut anywhere is an error or a template, never a crash") {
  const std::string whole =
      "{%- for m in messages if m %}{{ m['a'][1:] | trim ~ \"x\" }}{# c #}{% set a, b = 1, {'k': "
      "2} "
      "%}{% macro f(x=1) %}{{ x is not none and 3 in [1, (2, 3)] }}{% endmacro %}{% endfor -%}";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    try {
      (void)rendered(whole.substr(0, length));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Input);
    }
  }
}
