// SPDX-License-Identifier: Apache-2.0
// Filters of lists and dictionaries.
#include <algorithm>
#include <unordered_map>

#include "ubique/io/text/jinja/builtins.h"
#include "ubique/io/text/jinja/fault.h"
#include "ubique/io/text/jinja/text_functions.h"

namespace ubique::io::jinja {
namespace {

using ListFilter = Value (*)(Runtime&, const Value&, const Arguments&);

Value length_filter(Runtime& runtime, const Value& value, const Arguments&) {
  if (value.text()) runtime.spend(value.text()->size() / 16);
  return Value(length_of(value));
}

Value first_filter(Runtime& runtime, const Value& value, const Arguments&) {
  const auto values = values_of(runtime, value);
  return values.empty() ? Value(Missing{"the first of an empty list"}) : values.front();
}

Value last_filter(Runtime& runtime, const Value& value, const Arguments&) {
  const auto values = values_of(runtime, value);
  return values.empty() ? Value(Missing{"the last of an empty list"}) : values.back();
}

Value list_filter(Runtime& runtime, const Value& value, const Arguments&) {
  return runtime.made_list(values_of(runtime, value));
}

Value join_filter(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("join", {"d", "attribute"});
  const auto separator = printed(bound[0]);
  TracedText out;
  bool first = true;
  for (const auto& each : values_of(runtime, value)) {
    const auto part = bound[1].is_missing() ? each : attribute_of(runtime, each, bound[1]);
    runtime.spend(static_cast<std::size_t>(part.weight()) + separator.size() / 16);
    if (!first) out.append(separator);
    out.append(printed(part));
    first = false;
  }
  return Value(std::move(out));
}

Value reverse_filter(Runtime& runtime, const Value& value, const Arguments&) {
  auto values = values_of(runtime, value);
  std::reverse(values.begin(), values.end());
  if (!value.text()) return runtime.made_list(std::move(values));
  TracedText out;
  for (const auto& each : values) out.append(*each.text());
  return runtime.made(std::move(out));
}

Value items_filter(Runtime& runtime, const Value& value, const Arguments&) {
  if (value.is_missing()) return make_list({});
  need(value.dict() != nullptr, "items needs a dictionary; got {}.", value.type());
  return call_method(runtime, Function{"items", value, nullptr}, {});
}

/// What sort, unique, min and max compare: texts without regard to case unless asked otherwise.
Value sort_key(Runtime& runtime, const Value& value, const Value& attribute, bool exact) {
  auto key = attribute.is_missing() || attribute.is_none()
                 ? value
                 : attribute_of(runtime, value, attribute);
  return exact || !key.text() ? key : Value(lower_case(*key.text()));
}

std::vector<std::pair<Value, Value>> keyed_values(Runtime& runtime, const Value& value,
                                                  const Value& attribute, bool exact) {
  std::vector<std::pair<Value, Value>> keyed;
  for (const auto& each : values_of(runtime, value)) {
    keyed.emplace_back(sort_key(runtime, each, attribute, exact), each);
    runtime.spend(static_cast<std::size_t>(keyed.back().first.weight()) * 8);
  }
  return keyed;
}

/// Equal keys stay in order, in reverse too.
void sort_by_key(std::vector<std::pair<Value, Value>>& keyed, bool reverse) {
  for (std::size_t i = 1; i < keyed.size(); ++i) {
    need(compare(keyed[i - 1].first, keyed[i].first).has_value(), "{} and {} have no order.",
         keyed[i - 1].first.type(), keyed[i].first.type());
  }
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& left, const auto& right) {
    const auto order = compare(left.first, right.first).value_or(0);
    return reverse ? order > 0 : order < 0;
  });
}

Value sort_filter(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("sort", {"reverse", "case_sensitive", "attribute"});
  auto keyed = keyed_values(runtime, value, bound[2], bound[1].truth());
  sort_by_key(keyed, bound[0].truth());
  std::vector<Value> values;
  for (auto& each : keyed) values.push_back(std::move(each.second));
  return runtime.made_list(std::move(values));
}

Value dictsort_filter(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("dictsort", {"case_sensitive", "by", "reverse"});
  const auto by = bound[1].text() && bound[1].text()->bytes() == "value" ? 1 : 0;
  const auto pairs = items_filter(runtime, value, {});
  auto keyed = keyed_values(runtime, pairs, Value(std::int64_t{by}), bound[0].truth());
  sort_by_key(keyed, bound[2].truth());
  std::vector<Value> values;
  for (auto& each : keyed) values.push_back(std::move(each.second));
  return runtime.made_list(std::move(values));
}

Value unique_filter(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("unique", {"case_sensitive", "attribute"});
  std::vector<Value> keys, values;
  for (auto& [key, each] : keyed_values(runtime, value, bound[1], bound[0].truth())) {
    runtime.spend(keys.size());
    if (std::any_of(keys.begin(), keys.end(), [&](const Value& old) { return equal(old, key); })) {
      continue;
    }
    keys.push_back(key);
    values.push_back(each);
  }
  return runtime.made_list(std::move(values));
}

Value extreme_of(Runtime& runtime, const Value& value, const Arguments& arguments, bool largest) {
  const auto bound = arguments.bind(largest ? "max" : "min", {"case_sensitive", "attribute"});
  auto keyed = keyed_values(runtime, value, bound[1], bound[0].truth());
  if (keyed.empty()) return Value(Missing{"the extreme of an empty list"});
  sort_by_key(keyed, largest);
  return keyed.front().second;
}

Value sum_filter(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const auto bound = arguments.bind("sum", {"attribute", "start"});
  auto sum = bound[1].is_missing() ? Value(std::int64_t{0}) : bound[1];
  for (const auto& each : values_of(runtime, value)) {
    const bool whole = bound[0].is_missing() || bound[0].is_none();
    sum = binary_operation(runtime, "+", sum, whole ? each : attribute_of(runtime, each, bound[0]));
  }
  return sum;
}

Value map_filter(Runtime& runtime, const Value& value, const Arguments& arguments) {
  std::vector<Value> values;
  if (arguments.values.empty()) {
    const auto bound = arguments.bind("map", {"attribute", "default"});
    for (const auto& each : values_of(runtime, value)) {
      auto found = attribute_of(runtime, each, bound[0]);
      values.push_back(found.is_missing() && !bound[1].is_missing() ? bound[1] : std::move(found));
    }
    return runtime.made_list(std::move(values));
  }
  const auto& name = text_of(arguments.values.front(), "map").bytes();
  const Arguments rest{{arguments.values.begin() + 1, arguments.values.end()}, arguments.named};
  for (const auto& each : values_of(runtime, value)) {
    // A filter of filters could nest without end.
    need(name != "map", "map cannot be mapped.");
    values.push_back(apply_filter(runtime, name, each, rest));
  }
  return runtime.made_list(std::move(values));
}

/// select and reject, by a test of the value or of one of its attributes.
Value choose(Runtime& runtime, const Value& value, const Arguments& arguments, bool attribute,
             bool keep) {
  const std::size_t used = attribute ? 1 : 0;
  need(arguments.values.size() >= used, "selectattr and rejectattr need an attribute.");
  const bool tested = arguments.values.size() > used;
  const auto name = tested ? text_of(arguments.values[used], "a test").bytes() : std::string();
  Arguments rest{{}, arguments.named};
  for (auto i = used + 1; i < arguments.values.size(); ++i) {
    rest.values.push_back(arguments.values[i]);
  }
  std::vector<Value> values;
  for (const auto& each : values_of(runtime, value)) {
    const auto part = attribute ? attribute_of(runtime, each, arguments.values[0]) : each;
    const bool holds = tested ? apply_test(runtime, name, part, rest) : part.truth();
    if (holds == keep) values.push_back(each);
  }
  return runtime.made_list(std::move(values));
}

template <bool kAttribute, bool kKeep>
Value choosing_filter(Runtime& runtime, const Value& value, const Arguments& arguments) {
  return choose(runtime, value, arguments, kAttribute, kKeep);
}

const std::unordered_map<std::string_view, ListFilter>& list_filters() {
  static const std::unordered_map<std::string_view, ListFilter> filters = {
      {"length", length_filter},
      {"count", length_filter},
      {"first", first_filter},
      {"last", last_filter},
      {"list", list_filter},
      {"join", join_filter},
      {"reverse", reverse_filter},
      {"items", items_filter},
      {"sort", sort_filter},
      {"dictsort", dictsort_filter},
      {"unique", unique_filter},
      {"sum", sum_filter},
      {"map", map_filter},
      {"select", choosing_filter<false, true>},
      {"reject", choosing_filter<false, false>},
      {"selectattr", choosing_filter<true, true>},
      {"rejectattr", choosing_filter<true, false>},
      {"max",
       [](Runtime& runtime, const Value& value, const Arguments& arguments) {
         return extreme_of(runtime, value, arguments, true);
       }},
      {"min",
       [](Runtime& runtime, const Value& value, const Arguments& arguments) {
         return extreme_of(runtime, value, arguments, false);
       }},
  };
  return filters;
}

}  // namespace

std::optional<Value> apply_list_filter(Runtime& runtime, const std::string& name,
                                       const Value& value, const Arguments& arguments) {
  const auto found = list_filters().find(name);
  if (found == list_filters().end()) return std::nullopt;
  return found->second(runtime, value, arguments);
}

}  // namespace ubique::io::jinja
