// SPDX-License-Identifier: Apache-2.0
// "x is defined" and the other tests.
#include <algorithm>
#include <unordered_map>

#include "ubique/base/text/printable.h"
#include "ubique/io/text/jinja/builtins.h"
#include "ubique/io/text/jinja/fault.h"
#include "ubique/io/text/jinja/text_functions.h"

namespace ubique::io::jinja {
namespace {

using PlainTest = bool (*)(const Value&);

bool is_ordered(const Value& value) {
  return value.text() != nullptr || value.items() != nullptr || value.dict() != nullptr;
}

bool is_whole(const Value& value) { return value.as<std::int64_t>() != nullptr; }

const std::unordered_map<std::string_view, PlainTest>& plain_tests() {
  static const std::unordered_map<std::string_view, PlainTest> tests = {
      {"defined", [](const Value& value) { return !value.is_missing(); }},
      {"undefined", [](const Value& value) { return value.is_missing(); }},
      {"none", [](const Value& value) { return value.is_none(); }},
      {"boolean", [](const Value& value) { return value.as<bool>() != nullptr; }},
      {"true", [](const Value& value) { return value.as<bool>() && *value.as<bool>(); }},
      {"false", [](const Value& value) { return value.as<bool>() && !*value.as<bool>(); }},
      {"integer", is_whole},
      {"float", [](const Value& value) { return value.as<double>() != nullptr; }},
      {"number", [](const Value& value) { return value.number().has_value(); }},
      {"string", [](const Value& value) { return value.text() != nullptr; }},
      {"mapping", [](const Value& value) { return value.dict() != nullptr; }},
      {"sequence", is_ordered},
      {"iterable", [](const Value& value) { return is_ordered(value) || value.is_missing(); }},
      {"callable", [](const Value& value) { return value.as<FunctionPtr>() != nullptr; }},
      {"odd", [](const Value& value) { return integer_of(value, "odd") % 2 != 0; }},
      {"even", [](const Value& value) { return integer_of(value, "even") % 2 == 0; }},
      {"lower",
       [](const Value& value) {
         const auto& text = text_of(value, "lower");
         return lower_case(text).bytes() == text.bytes() &&
                upper_case(text).bytes() != text.bytes();
       }},
      {"upper",
       [](const Value& value) {
         const auto& text = text_of(value, "upper");
         return upper_case(text).bytes() == text.bytes() &&
                lower_case(text).bytes() != text.bytes();
       }},
  };
  return tests;
}

/// The comparison that a test stands for; empty if it is none.
std::string_view comparison_of(std::string_view name) {
  static const std::unordered_map<std::string_view, std::string_view> comparisons = {
      {"eq", "=="},      {"equalto", "=="}, {"sameas", "=="}, {"ne", "!="},         {"lt", "<"},
      {"lessthan", "<"}, {"le", "<="},      {"gt", ">"},      {"greaterthan", ">"}, {"ge", ">="},
      {"in", "in"},      {"==", "=="},      {"!=", "!="},     {"<", "<"},           {"<=", "<="},
      {">", ">"},        {">=", ">="},
  };
  const auto found = comparisons.find(name);
  return found == comparisons.end() ? std::string_view() : found->second;
}

}  // namespace

bool apply_test(Runtime& runtime, const std::string& name, const Value& value,
                const Arguments& arguments) {
  if (value.text()) runtime.spend(value.text()->size() / 64);
  if (const auto found = plain_tests().find(name); found != plain_tests().end()) {
    (void)arguments.bind(name, {});
    return found->second(value);
  }
  if (const auto operation = comparison_of(name); !operation.empty()) {
    const auto other = arguments.bind(name, {"other"}).front();
    if (name == "sameas" && std::string_view(value.type()) != other.type()) return false;
    return comparison(runtime, operation, value, other);
  }
  need(name == "divisibleby", "there is no test '{}'.", printable(name, 60));
  const auto by = integer_of(arguments.bind(name, {"num"}).front(), name);
  need(by != 0, "division by zero.");
  return by == -1 || integer_of(value, name) % by == 0;
}

}  // namespace ubique::io::jinja
