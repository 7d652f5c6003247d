// SPDX-License-Identifier: Apache-2.0
// Construction, truth and comparison of template values.
#include "ubique/io/text/jinja/value.h"

#include <algorithm>

#include "ubique/base/text/json.h"
#include "ubique/io/text/jinja/fault.h"

namespace ubique::io::jinja {
namespace {

/// Depth and weight of a container while its values are counted.
struct Extent {
  std::int64_t depth = 1, weight = 1;

  void count(const Value& value) {
    need(value.as<SpacePtr>() == nullptr, "a namespace cannot be kept inside another value.");
    need(value.depth() < kDeepestValue,
         "lists and dictionaries are nested too deeply; expected at most {} levels.",
         kDeepestValue);
    depth = std::max(depth, value.depth() + 1);
    weight += value.weight();
    need(weight <= kHeaviestValue, "a list or dictionary is too large.");
  }
};

template <typename T>
int sign_of(const T& left, const T& right) {
  return left < right ? -1 : right < left ? 1 : 0;
}

bool equal_dicts(const Dict& left, const Dict& right) {
  if (left.entries.size() != right.entries.size()) return false;
  return std::all_of(left.entries.begin(), left.entries.end(), [&](const auto& entry) {
    const auto* other = right.find(entry.first.bytes());
    return other != nullptr && equal(entry.second, *other);
  });
}

}  // namespace

const TracedText* Value::text() const {
  const auto* text = as<TextPtr>();
  return text == nullptr ? nullptr : text->get();
}

const Items* Value::items() const {
  const auto* items = as<ItemsPtr>();
  return items == nullptr ? nullptr : items->get();
}

const Dict* Value::dict() const {
  const auto* dict = as<DictPtr>();
  return dict == nullptr ? nullptr : dict->get();
}

std::optional<double> Value::number() const {
  if (const auto* real = as<double>()) return *real;
  const auto whole = integer();
  return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

std::optional<std::int64_t> Value::integer() const {
  if (const auto* whole = as<std::int64_t>()) return *whole;
  if (const auto* yes = as<bool>()) return *yes ? 1 : 0;
  return std::nullopt;
}

bool Value::truth() const {
  if (is_missing() || is_none()) return false;
  if (const auto value = number()) return *value != 0;
  if (const auto* words = text()) return words->size() > 0;
  if (const auto* list = items()) return !list->values.empty();
  if (const auto* map = dict()) return !map->entries.empty();
  return true;
}

const char* Value::type() const {
  if (is_missing()) return "an undefined value";
  if (is_none()) return "none";
  if (as<bool>() != nullptr) return "a boolean";
  if (as<std::int64_t>() != nullptr) return "an integer";
  if (as<double>() != nullptr) return "a float";
  if (text() != nullptr) return "a string";
  if (items() != nullptr) return items()->tuple ? "a tuple" : "a list";
  if (dict() != nullptr) return "a dictionary";
  return as<SpacePtr>() != nullptr ? "a namespace" : "a function";
}

std::int64_t Value::depth() const {
  if (const auto* list = items()) return list->depth;
  if (const auto* map = dict()) return map->depth;
  if (const auto* function = as<FunctionPtr>()) return (*function)->self.depth() + 1;
  return 0;
}

std::int64_t Value::weight() const {
  if (const auto* list = items()) return list->weight;
  if (const auto* map = dict()) return map->weight;
  if (const auto* function = as<FunctionPtr>()) return (*function)->self.weight() + 1;
  const auto* words = text();
  return words == nullptr ? 1 : 1 + static_cast<std::int64_t>(words->size() / 16);
}

const Value* Dict::find(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name.bytes() == key) return &value;
  }
  return nullptr;
}

void Dict::set(const TracedText& key, Value value) {
  for (auto& [name, old] : entries) {
    if (name.bytes() == key.bytes()) {
      old = std::move(value);
      return;
    }
  }
  entries.emplace_back(key, std::move(value));
}

Value make_list(std::vector<Value> values, bool tuple) {
  Extent extent;
  for (const auto& value : values) extent.count(value);
  return Value(
      std::make_shared<const Items>(Items{std::move(values), tuple, extent.depth, extent.weight}));
}

Value make_dict(Dict dict) {
  Extent extent;
  for (const auto& [key, value] : dict.entries) {
    extent.weight += static_cast<std::int64_t>(key.size() / 16);
    extent.count(value);
  }
  dict.depth = extent.depth;
  dict.weight = extent.weight;
  return Value(std::make_shared<const Dict>(std::move(dict)));
}

Value from_json(const Json& json, std::optional<std::int32_t> source) {
  const auto traced = [&](const std::string& text) {
    return source ? TracedText::given(text, *source) : TracedText(text);
  };
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  if (json.is_number()) return Value(json.get<double>());
  if (json.is_string()) return Value(traced(json.get_ref<const std::string&>()));
  if (json.is_array()) {
    std::vector<Value> values;
    for (const auto& each : json) values.push_back(from_json(each, source));
    return make_list(std::move(values));
  }
  if (!json.is_object()) return Value();
  Dict dict;
  // The keys of a JSON object are unique: no search for each.
  for (const auto& [key, each] : json.items()) {
    dict.entries.emplace_back(traced(key), from_json(each, source));
  }
  return make_dict(std::move(dict));
}

bool equal(const Value& left, const Value& right) {
  if (left.integer() && right.integer()) return *left.integer() == *right.integer();
  if (left.number() && right.number()) return *left.number() == *right.number();
  if (left.text() && right.text()) return left.text()->bytes() == right.text()->bytes();
  if (left.dict() && right.dict()) return equal_dicts(*left.dict(), *right.dict());
  if (left.items() && right.items()) {
    const auto& mine = left.items()->values;
    const auto& other = right.items()->values;
    return left.items()->tuple == right.items()->tuple &&
           std::equal(mine.begin(), mine.end(), other.begin(), other.end(), equal);
  }
  if (left.as<SpacePtr>() && right.as<SpacePtr>()) {
    return *left.as<SpacePtr>() == *right.as<SpacePtr>();
  }
  return (left.is_none() && right.is_none()) || (left.is_missing() && right.is_missing());
}

std::optional<int> compare(const Value& left, const Value& right) {
  if (left.integer() && right.integer()) return sign_of(*left.integer(), *right.integer());
  if (left.number() && right.number()) return sign_of(*left.number(), *right.number());
  // The order of UTF-8 bytes is that of code points.
  if (left.text() && right.text()) return sign_of(left.text()->bytes(), right.text()->bytes());
  if (!left.items() || !right.items()) return std::nullopt;
  const auto& mine = left.items()->values;
  const auto& other = right.items()->values;
  for (std::size_t i = 0; i < std::min(mine.size(), other.size()); ++i) {
    if (!equal(mine[i], other[i])) return compare(mine[i], other[i]);
  }
  return sign_of(mine.size(), other.size());
}

}  // namespace ubique::io::jinja
