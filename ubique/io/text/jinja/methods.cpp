// SPDX-License-Identifier: Apache-2.0
// Methods of strings, lists and dictionaries. Those that would change a value are missing, as in
// the sandbox that transformers uses.
#include <algorithm>
#include <unordered_map>

#include "ubique/base/text/utf8.h"
#include "ubique/io/text/jinja/builtins.h"
#include "ubique/io/text/jinja/fault.h"
#include "ubique/io/text/jinja/text_functions.h"
#include "ubique/io/text/unicode/unicode.h"

namespace ubique::io::jinja {
namespace {

using Method = Value (*)(Runtime&, const Function&, const Arguments&);
using Methods = std::unordered_map<std::string_view, Method>;

const TracedText& own_text(const Function& method) { return *method.self.text(); }

std::optional<std::string> optional_text(const Value& value, std::string_view what) {
  if (value.is_none() || value.is_missing()) return std::nullopt;
  return text_of(value, what).bytes();
}

template <Sides kSides>
Value strip_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto set = optional_text(arguments.bind(method.name, {"chars"})[0], method.name);
  runtime.spend(own_text(method).size() / 16);
  return runtime.made(stripped(own_text(method), kSides, set));
}

template <bool kFromRight>
Value split_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto bound = arguments.bind(method.name, {"sep", "maxsplit"});
  const auto separator = optional_text(bound[0], method.name);
  need(!separator || !separator->empty(), "{}: the separator is empty.", method.name);
  runtime.spend(own_text(method).size() / 4);
  std::vector<Value> parts;
  const auto most = bound[1].is_missing() ? -1 : integer_of(bound[1], method.name);
  for (auto& part : split_text(own_text(method), separator, most, kFromRight)) {
    parts.emplace_back(std::move(part));
  }
  return runtime.made_list(std::move(parts));
}

Value splitlines_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto bound = arguments.bind(method.name, {"keepends"});
  runtime.spend(own_text(method).size() / 4);
  std::vector<Value> parts;
  for (auto& line : lines_of(own_text(method), bound[0].truth())) {
    parts.emplace_back(std::move(line));
  }
  return runtime.made_list(std::move(parts));
}

/// startswith and endswith, with one text or a tuple of them.
template <bool kStart>
Value edge_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto bound = arguments.bind(method.name, {"affix"});
  const auto& text = own_text(method).bytes();
  const auto fits = [&](const Value& affix) {
    const auto& bytes = text_of(affix, method.name).bytes();
    return kStart ? text.starts_with(bytes) : text.ends_with(bytes);
  };
  if (!bound[0].items()) return Value(fits(bound[0]));
  const auto& list = bound[0].items()->values;
  runtime.spend(list.size());
  return Value(std::any_of(list.begin(), list.end(), fits));
}

template <bool kPrefix>
Value remove_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto& text = own_text(method);
  const auto affix = text_of(arguments.bind(method.name, {"affix"})[0], method.name).bytes();
  const bool fits = kPrefix ? text.bytes().starts_with(affix) : text.bytes().ends_with(affix);
  if (!fits) return method.self;
  return runtime.made(kPrefix ? text.slice(affix.size(), text.size())
                              : text.slice(0, text.size() - affix.size()));
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  if (part.empty()) return static_cast<std::size_t>(character_count(text)) + 1;
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

Value replace_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto bound = arguments.bind(method.name, {"old", "new", "count"});
  const auto& old = text_of(bound[0], method.name).bytes();
  const auto& by = text_of(bound[1], method.name);
  const auto most = bound[2].is_missing() ? -1 : integer_of(bound[2], method.name);
  runtime.spend(own_text(method).size() / 16);
  runtime.spend(occurrences(own_text(method).bytes(), old) * (by.size() / 16 + 1));
  return runtime.made(replaced(own_text(method), old, by, most));
}

template <bool kFromRight>
Value find_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto& text = own_text(method).bytes();
  const auto& part = text_of(arguments.bind(method.name, {"sub"})[0], method.name).bytes();
  runtime.spend(text.size() / 8);
  const auto at = kFromRight ? text.rfind(part) : text.find(part);
  if (at == std::string::npos) return Value(std::int64_t{-1});
  return Value(character_count(std::string_view(text).substr(0, at)));
}

Value count_text_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto& part = text_of(arguments.bind(method.name, {"sub"})[0], method.name).bytes();
  runtime.spend(own_text(method).size() / 16);
  return Value(static_cast<std::int64_t>(occurrences(own_text(method).bytes(), part)));
}

Value join_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto bound = arguments.bind(method.name, {"iterable"});
  for (const auto& each : values_of(runtime, bound[0])) (void)text_of(each, "join");
  return apply_filter(runtime, "join", bound[0], {{method.self}, {}});
}

/// Whether all characters, and at least one, are of these classes.
Value all_of_class(Runtime& runtime, const Function& method,
                   std::initializer_list<CharacterClass> classes) {
  const auto& text = own_text(method).bytes();
  runtime.spend(text.size() / 16);
  for (std::size_t at = 0; at < text.size();) {
    const auto point = code_point_at(text, at);
    const auto kind = character_class(point.value);
    if (std::find(classes.begin(), classes.end(), kind) == classes.end()) return Value(false);
    at += point.length;
  }
  return Value(!text.empty());
}

template <TracedText (*kChange)(const TracedText&)>
Value case_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  (void)arguments.bind(method.name, {});
  runtime.spend(own_text(method).size() / 8);
  return runtime.made(kChange(own_text(method)));
}

const Methods& text_methods() {
  static const Methods methods = {
      {"strip", strip_method<Sides::Both>},
      {"lstrip", strip_method<Sides::Left>},
      {"rstrip", strip_method<Sides::Right>},
      {"split", split_method<false>},
      {"rsplit", split_method<true>},
      {"splitlines", splitlines_method},
      {"startswith", edge_method<true>},
      {"endswith", edge_method<false>},
      {"removeprefix", remove_method<true>},
      {"removesuffix", remove_method<false>},
      {"replace", replace_method},
      {"find", find_method<false>},
      {"rfind", find_method<true>},
      {"count", count_text_method},
      {"join", join_method},
      {"upper", case_method<upper_case>},
      {"lower", case_method<lower_case>},
      {"capitalize", case_method<capitalized>},
      {"title", [](Runtime& runtime, const Function& method,
                   const Arguments&) { return runtime.made(title_case(own_text(method), false)); }},
      {"isdigit",
       [](Runtime& runtime, const Function& method, const Arguments&) {
         return all_of_class(runtime, method, {CharacterClass::Number});
       }},
      {"isalpha",
       [](Runtime& runtime, const Function& method, const Arguments&) {
         return all_of_class(runtime, method, {CharacterClass::Letter});
       }},
      {"isalnum",
       [](Runtime& runtime, const Function& method, const Arguments&) {
         return all_of_class(runtime, method, {CharacterClass::Letter, CharacterClass::Number});
       }},
      {"isspace",
       [](Runtime& runtime, const Function& method, const Arguments&) {
         return all_of_class(runtime, method, {CharacterClass::Space});
       }},
  };
  return methods;
}

Value items_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  (void)arguments.bind(method.name, {});
  std::vector<Value> pairs;
  for (const auto& [key, value] : method.self.dict()->entries) {
    pairs.push_back(make_list({Value(key), value}, true));
  }
  runtime.spend(pairs.size());
  return runtime.made_list(std::move(pairs));
}

Value keys_method(Runtime& runtime, const Function& method, const Arguments&) {
  return runtime.made_list(values_of(runtime, method.self));
}

Value dict_values_method(Runtime& runtime, const Function& method, const Arguments&) {
  std::vector<Value> values;
  for (const auto& entry : method.self.dict()->entries) values.push_back(entry.second);
  return runtime.made_list(std::move(values));
}

Value get_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto bound = arguments.bind(method.name, {"key", "default"});
  runtime.spend(method.self.dict()->entries.size() / 8);
  const auto* found =
      bound[0].text() ? method.self.dict()->find(bound[0].text()->bytes()) : nullptr;
  if (found != nullptr) return *found;
  return bound[1].is_missing() ? Value() : bound[1];
}

const Methods& dict_methods() {
  static const Methods methods = {{"items", items_method},
                                  {"keys", keys_method},
                                  {"values", dict_values_method},
                                  {"get", get_method}};
  return methods;
}

Value index_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto bound = arguments.bind(method.name, {"value"});
  runtime.spend(static_cast<std::size_t>(method.self.weight()));
  const auto& values = method.self.items()->values;
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const Value& each) { return equal(each, bound[0]); });
  need(found != values.end(), "index: the value is not in the list.");
  return Value(static_cast<std::int64_t>(found - values.begin()));
}

Value count_item_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  const auto bound = arguments.bind(method.name, {"value"});
  runtime.spend(static_cast<std::size_t>(method.self.weight()));
  const auto& values = method.self.items()->values;
  return Value(static_cast<std::int64_t>(std::count_if(
      values.begin(), values.end(), [&](const Value& each) { return equal(each, bound[0]); })));
}

const Methods& list_methods() {
  static const Methods methods = {{"index", index_method}, {"count", count_item_method}};
  return methods;
}

const Methods* methods_of(const Value& value) {
  if (value.text()) return &text_methods();
  if (value.dict()) return &dict_methods();
  return value.items() ? &list_methods() : nullptr;
}

}  // namespace

bool has_method(const Value& object, std::string_view name) {
  const auto* methods = methods_of(object);
  return methods != nullptr && methods->contains(name);
}

Value call_method(Runtime& runtime, const Function& method, const Arguments& arguments) {
  return methods_of(method.self)->at(method.name)(runtime, method, arguments);
}

}  // namespace ubique::io::jinja
