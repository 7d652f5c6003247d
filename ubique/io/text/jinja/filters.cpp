// SPDX-License-Identifier: Apache-2.0
// Filters of texts, numbers and single values; lists are in filters_lists.cpp.
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/io/text/jinja/builtins.h"
#include "ubique/io/text/jinja/fault.h"
#include "ubique/io/text/jinja/text_functions.h"

namespace ubique::io::jinja {
namespace {

using Filter = Value (*)(Runtime&, const Value&, const Arguments&);

TracedText filter_text(Runtime& runtime, const Value& value) {
  runtime.spend(static_cast<std::size_t>(value.weight()));
  return printed(value);
}

Value trim_filter(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("trim", {"chars"});
  const auto set = bound[0].text() ? std::optional(bound[0].text()->bytes()) : std::nullopt;
  return runtime.made(stripped(filter_text(runtime, value), Sides::Both, set));
}

Value replace_filter(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("replace", {"old", "new", "count"});
  const Function method{"replace", Value(filter_text(runtime, value)), nullptr};
  Arguments passed{{bound[0], bound[1]}, {}};
  if (bound[2].integer()) passed.values.push_back(bound[2]);
  return call_method(runtime, method, passed);
}

Value default_filter(Runtime&, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("default", {"default_value", "boolean"});
  const bool use = value.is_missing() || (bound[1].truth() && !value.truth());
  if (!use) return value;
  return bound[0].is_missing() ? Value("") : bound[0];
}

Value tojson_filter(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const auto bound =
      arguments.bind("tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
  // Jinja's own filter has the indent first, transformers' has it second: both are by name.
  JsonStyle style;
  const auto& indent = bound[0].as<std::int64_t>() ? bound[0] : bound[1];
  if (indent.integer()) {
    style.indent = integer_of(indent, "tojson");
    need(style.indent >= 0 && style.indent <= 64, "tojson: the indent is out of range.");
    style.between_items = ",";
  }
  style.ascii = bound[0].as<bool>() != nullptr && bound[0].truth();
  style.sort_keys = bound[3].truth();
  if (const auto* both = bound[2].items()) {
    need(both->values.size() == 2, "tojson: separators are two texts.");
    style.between_items = text_of(both->values[0], "separators").bytes();
    style.after_key = text_of(both->values[1], "separators").bytes();
  }
  const auto levels = std::max<std::int64_t>(style.indent, 0) * value.depth() / 16 + 2;
  const auto separators =
      static_cast<std::int64_t>(style.between_items.size() + style.after_key.size());
  runtime.spend(static_cast<std::size_t>(value.weight() * (levels + separators / 16)));
  return runtime.made(json_of(value, style));
}

Value int_filter(Runtime&, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("int", {"default", "base"});
  if (value.integer()) return Value(*value.integer());
  const auto number = value.text() ? parse_number(trim(value.text()->bytes())) : value.number();
  const bool fits = number && std::abs(*number) < 9e18;
  if (fits) return Value(static_cast<std::int64_t>(*number));
  return bound[0].is_missing() ? Value(std::int64_t{0}) : bound[0];
}

Value float_filter(Runtime&, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("float", {"default"});
  const auto number = value.text() ? parse_number(trim(value.text()->bytes())) : value.number();
  if (number) return Value(*number);
  return bound[0].is_missing() ? Value(0.0) : bound[0];
}

Value abs_filter(Runtime&, const Value& value, const Arguments&) {
  need(value.number().has_value(), "abs needs a number; got {}.", value.type());
  if (!value.integer()) return Value(std::abs(*value.number()));
  need(*value.integer() != INT64_MIN, "an integer is too large.");
  return Value(std::abs(*value.integer()));
}

/// Python rounds halves to the even neighbour, of the number as it is in binary.
Value round_filter(Runtime&, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("round", {"precision", "method"});
  need(value.number().has_value(), "round needs a number; got {}.", value.type());
  const auto digits = bound[0].is_missing() ? 0 : integer_of(bound[0], "round");
  need(digits >= 0 && digits <= 15, "round: the precision is out of range; expected 0 to 15.");
  const auto method = bound[1].text() ? bound[1].text()->bytes() : "common";
  const auto scale = std::pow(10.0, static_cast<double>(digits));
  if (method == "ceil") return Value(std::ceil(*value.number() * scale) / scale);
  if (method == "floor") return Value(std::floor(*value.number() * scale) / scale);
  need(method == "common", "round: the method is common, ceil or floor.");
  if (value.integer()) return Value(*value.integer());
  return Value(std::strtod(fmt::format("{:.{}f}", *value.number(), digits).c_str(), nullptr));
}

Value indent_filter(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("indent", {"width", "first", "blank"});
  const auto text = filter_text(runtime, value);
  const auto width = bound[0].integer().value_or(4);
  need(width >= 0 && width <= 1000, "indent: the width is out of range.");
  const auto by = bound[0].text() ? *bound[0].text()
                                  : TracedText(std::string(static_cast<std::size_t>(width), ' '));
  const auto lines = lines_of(text, false).size() + 1;
  runtime.spend(lines * (by.size() / 16 + 2));
  return runtime.made(indented(text, by, bound[1].truth(), bound[2].truth()));
}

Value escape_filter(Runtime& runtime, const Value& value, const Arguments&) {
  const auto text = filter_text(runtime, value);
  std::string out;
  for (const char letter : text.bytes()) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += letter;
    }
  }
  return runtime.made(text.derived(std::move(out)));
}

Value same_filter(Runtime& runtime, const Value& value, const Arguments&) {
  return runtime.made(filter_text(runtime, value));
}

const std::unordered_map<std::string_view, Filter>& filters_by_name() {
  static const std::unordered_map<std::string_view, Filter> filters = {
      {"trim", trim_filter},
      {"replace", replace_filter},
      {"default", default_filter},
      {"d", default_filter},
      {"tojson", tojson_filter},
      {"int", int_filter},
      {"float", float_filter},
      {"abs", abs_filter},
      {"round", round_filter},
      {"indent", indent_filter},
      {"escape", escape_filter},
      {"e", escape_filter},
      {"string", same_filter},
      {"safe", same_filter},
      {"upper",
       [](Runtime& runtime, const Value& value, const Arguments&) {
         return runtime.made(upper_case(filter_text(runtime, value)));
       }},
      {"lower",
       [](Runtime& runtime, const Value& value, const Arguments&) {
         return runtime.made(lower_case(filter_text(runtime, value)));
       }},
      {"title",
       [](Runtime& runtime, const Value& value, const Arguments&) {
         return runtime.made(title_case(filter_text(runtime, value), true));
       }},
      {"capitalize",
       [](Runtime& runtime, const Value& value, const Arguments&) {
         return runtime.made(capitalized(filter_text(runtime, value)));
       }},
  };
  return filters;
}

}  // namespace

std::vector<Value> Arguments::bind(std::string_view what,
                                   std::initializer_list<const char*> names) const {
  need(values.size() <= names.size(), "'{}' takes {} arguments at most; got {}.", what,
       names.size(), values.size());
  std::vector<Value> bound(values);
  for (auto i = values.size(); i < names.size(); ++i) {
    bound.emplace_back(Missing{std::string("the argument ") + names.begin()[i]});
  }
  for (const auto& [name, value] : named) {
    std::size_t at = 0;
    while (at < names.size() && name != names.begin()[at]) ++at;
    need(at < names.size(), "'{}' has no argument '{}'.", what, printable(name, 60));
    bound[at] = value;
  }
  return bound;
}

Value apply_filter(Runtime& runtime, const std::string& name, const Value& value,
                   const Arguments& arguments) {
  const auto found = filters_by_name().find(name);
  if (found != filters_by_name().end()) return found->second(runtime, value, arguments);
  auto made = apply_list_filter(runtime, name, value, arguments);
  need(made.has_value(), "there is no filter '{}'.", printable(name, 60));
  return std::move(*made);
}

}  // namespace ubique::io::jinja
