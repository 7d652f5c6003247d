// SPDX-License-Identifier: Apache-2.0
// The values of templates: what Python's None, bool, int, float, str, list, tuple and dict are to
// Jinja. Immutable but for namespaces, so that no value contains itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/io/text/jinja/traced_text.h"

namespace ubique::io::jinja {

struct Macro;
struct Dict;
struct Function;
struct Items;
class Value;

/// A name or member that does not exist: prints as nothing, is false, and cannot be computed with.
struct Missing {
  std::string what;  ///< for messages: "'x'"
};
struct None {};

using TextPtr = std::shared_ptr<const TracedText>;
using ItemsPtr = std::shared_ptr<const Items>;
using DictPtr = std::shared_ptr<const Dict>;
using SpacePtr = std::shared_ptr<Dict>;  // a namespace
using FunctionPtr = std::shared_ptr<const Function>;

class Value {
 public:
  Value() : held_(None{}) {}
  explicit Value(Missing missing) : held_(std::move(missing)) {}
  explicit Value(bool value) : held_(value) {}
  explicit Value(std::int64_t value) : held_(value) {}
  explicit Value(double value) : held_(value) {}
  explicit Value(TracedText text) : held_(std::make_shared<const TracedText>(std::move(text))) {}
  explicit Value(std::string text) : Value(TracedText(std::move(text))) {}
  explicit Value(const char* text) : Value(std::string(text)) {}
  explicit Value(ItemsPtr items) : held_(std::move(items)) {}
  explicit Value(DictPtr dict) : held_(std::move(dict)) {}
  explicit Value(SpacePtr space) : held_(std::move(space)) {}
  explicit Value(FunctionPtr function) : held_(std::move(function)) {}

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&held_);
  }
  bool is_missing() const { return as<Missing>() != nullptr; }
  bool is_none() const { return as<None>() != nullptr; }
  const TracedText* text() const;  ///< nullptr unless it is a string
  const Items* items() const;      ///< nullptr unless it is a list or tuple
  const Dict* dict() const;        ///< nullptr unless it is a dictionary
  /// Of a number or bool.
  std::optional<double> number() const;
  std::optional<std::int64_t> integer() const;

  bool truth() const;
  const char* type() const;  ///< for messages: "a string"
  std::int64_t depth() const;
  /// What walking over all of it costs: values, and every 16 bytes of texts.
  std::int64_t weight() const;

 private:
  std::variant<Missing, None, bool, std::int64_t, double, TextPtr, ItemsPtr, DictPtr, SpacePtr,
               FunctionPtr>
      held_;
};

struct Items {
  std::vector<Value> values;
  bool tuple = false;
  std::int64_t depth = 1, weight = 1;
};

struct Dict {
  std::vector<std::pair<TracedText, Value>> entries;  ///< in order of insertion
  std::int64_t depth = 1, weight = 1;
  const Value* find(std::string_view key) const;
  void set(const TracedText& key, Value value);
};

/// A macro, a global function, or a method with the value it was taken from.
struct Function {
  std::string name;
  Value self;
  const Macro* macro = nullptr;
};

/// How deeply lists and dictionaries may contain each other.
inline constexpr std::int64_t kDeepestValue = 100;
/// A list that contains another list twice, many times over, has few values in memory and endlessly
/// many to a walk; weight() may not exceed this.
inline constexpr std::int64_t kHeaviestValue = 4'000'000;

/// Input error where they would be nested too deeply, be too large or contain a namespace.
Value make_list(std::vector<Value> values, bool tuple = false);
Value make_dict(Dict dict);
/// Every text of it counts as given by `source`; without one, as the template's own.
Value from_json(const Json& json, std::optional<std::int32_t> source = std::nullopt);

/// Python's ==.
bool equal(const Value& left, const Value& right);
/// Python's order of numbers, texts and lists: negative, 0 or positive; nothing if they have none.
std::optional<int> compare(const Value& left, const Value& right);

/// What {{ value }} writes: Python's str(), nothing for a missing value.
TracedText printed(const Value& value);
/// Python's repr() of a float: the shortest digits that read back as the same number.
std::string float_text(double value);

struct JsonStyle {
  std::int64_t indent = -1;  ///< blanks per level; negative: on one line
  bool ascii = false;        ///< other characters as \uXXXX
  bool sort_keys = false;
  std::string between_items = ", ", after_key = ": ";
};

/// Python's json.dumps(). Given text inside makes all of it given. Input error for functions,
/// namespaces and missing values.
TracedText json_of(const Value& value, const JsonStyle& style);

}  // namespace ubique::io::jinja
