// SPDX-License-Identifier: Apache-2.0
// Operators, members, indices and slices, as Python defines them.
#include <algorithm>
#include <cmath>

#include "ubique/base/text/printable.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/text/jinja/builtins.h"
#include "ubique/io/text/jinja/fault.h"
#include "ubique/io/text/jinja/text_functions.h"

namespace ubique::io::jinja {
namespace {

[[noreturn]] void refuse_operation(std::string_view operation, const Value& left,
                                   const Value& right) {
  for (const auto* side : {&left, &right}) {
    if (const auto* missing = side->as<Missing>()) stop("{} is undefined.", missing->what);
  }
  stop("'{}' does not work with {} and {}.", operation, left.type(), right.type());
}

std::int64_t floor_divided(std::int64_t left, std::int64_t right) {
  need(right != 0, "division by zero.");
  need(right != -1 || left != INT64_MIN, "an integer is too large.");
  const auto quotient = left / right;
  return quotient - (left % right != 0 && (left < 0) != (right < 0) ? 1 : 0);
}

std::int64_t power(Runtime& runtime, std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {
    runtime.spend(1);
    need(!__builtin_mul_overflow(result, base, &result), "an integer is too large.");
    if (result == 0 || (base == 1 && i > 0)) break;
  }
  return result;
}

Value whole_operation(Runtime& runtime, std::string_view operation, std::int64_t left,
                      std::int64_t right) {
  std::int64_t result = 0;
  bool overflow = false;
  if (operation == "+") overflow = __builtin_add_overflow(left, right, &result);
  if (operation == "-") overflow = __builtin_sub_overflow(left, right, &result);
  if (operation == "*") overflow = __builtin_mul_overflow(left, right, &result);
  need(!overflow, "an integer is too large.");
  if (operation == "//") result = floor_divided(left, right);
  if (operation == "%") {
    need(right != 0, "division by zero.");
    result = right == -1 ? 0 : left - floor_divided(left, right) * right;
  }
  if (operation == "**") result = power(runtime, left, right);
  return Value(result);
}

Value real_operation(std::string_view operation, double left, double right) {
  if (operation == "+") return Value(left + right);
  if (operation == "-") return Value(left - right);
  if (operation == "*") return Value(left * right);
  if (operation == "**") return Value(std::pow(left, right));
  need(right != 0, "division by zero.");
  if (operation == "/") return Value(left / right);
  const auto quotient = std::floor(left / right);
  return Value(operation == "//" ? quotient : left - quotient * right);
}

/// "ab" * 3, [1] * 3; the other way round too.
Value repeated(Runtime& runtime, const Value& value, std::int64_t times) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
  const auto each = value.text() ? value.text()->size() / 16 + 1 : value.items()->values.size() + 1;
  need(count < (std::size_t{1} << 32U), "a text or list is repeated too often.");
  runtime.spend(each * count);  // before the memory is taken
  if (const auto* text = value.text()) {
    TracedText out;
    for (std::size_t i = 0; i < count; ++i) out.append(*text);
    return Value(std::move(out));
  }
  std::vector<Value> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.insert(values.end(), value.items()->values.begin(), value.items()->values.end());
  }
  return make_list(std::move(values), value.items()->tuple);
}

std::optional<Value> joined(Runtime& runtime, const Value& left, const Value& right) {
  if (left.text() && right.text()) {
    runtime.spend((left.text()->size() + right.text()->size()) / 16);
    TracedText out = *left.text();
    out.append(*right.text());
    return Value(std::move(out));
  }
  if (!left.items() || !right.items() || left.items()->tuple != right.items()->tuple) {
    return std::nullopt;
  }
  auto values = left.items()->values;
  values.insert(values.end(), right.items()->values.begin(), right.items()->values.end());
  return runtime.made_list(std::move(values), left.items()->tuple);
}

bool holds(Runtime& runtime, const Value& container, const Value& item) {
  if (container.is_missing()) return false;
  if (const auto* text = container.text()) {
    need(item.text() != nullptr, "'in' a string needs a string; got {}.", item.type());
    runtime.spend(text->size() / 16);
    return text->bytes().find(item.text()->bytes()) != std::string::npos;
  }
  if (const auto* dict = container.dict()) {
    runtime.spend(dict->entries.size());
    return item.text() != nullptr && dict->find(item.text()->bytes()) != nullptr;
  }
  need(container.items() != nullptr, "'in' needs a string, list or dictionary; got {}.",
       container.type());
  runtime.spend(static_cast<std::size_t>(container.weight()));
  return std::any_of(container.items()->values.begin(), container.items()->values.end(),
                     [&](const Value& each) { return equal(each, item); });
}

/// The chosen places of a slice over `size` entries.
std::vector<std::size_t> slice_places(std::int64_t size, const Value& begin, const Value& end,
                                      std::int64_t step) {
  const auto place = [&](const Value& value, std::int64_t otherwise) {
    if (value.is_none() || value.is_missing()) return otherwise;
    auto at = integer_of(value, "a slice");
    if (at < 0) at = at < -size ? -1 : at + size;
    return step > 0 ? std::clamp<std::int64_t>(at, 0, size)
                    : std::clamp<std::int64_t>(at, -1, size - 1);
  };
  const auto first = place(begin, step > 0 ? 0 : size - 1);
  const auto last = place(end, step > 0 ? size : -1);
  std::vector<std::size_t> places;
  const auto stride = std::clamp<std::int64_t>(step, -size - 1, size + 1);  // no overflow below
  for (auto at = first; step > 0 ? at < last : at > last; at += stride) {
    places.push_back(static_cast<std::size_t>(at));
  }
  return places;
}

Value missing_entry(const Value& object, const std::string& name) {
  return Value(Missing{"'" + printable(name, 60) + "' of " + object.type()});
}

}  // namespace

Value Runtime::made(TracedText text) {
  spend(text.size() / 16 + 1);
  return Value(std::move(text));
}

Value Runtime::made_list(std::vector<Value> values, bool tuple) {
  spend(values.size() + 1);
  return make_list(std::move(values), tuple);
}

std::int64_t integer_of(const Value& value, std::string_view what) {
  const auto whole = value.integer();
  need(whole.has_value(), "{} needs an integer; got {}.", what, value.type());
  return *whole;
}

const TracedText& text_of(const Value& value, std::string_view what) {
  need(value.text() != nullptr, "{} needs a string; got {}.", what, value.type());
  return *value.text();
}

std::int64_t length_of(const Value& value) {
  if (value.is_missing()) return 0;
  if (const auto* text = value.text()) return character_count(text->bytes());
  if (const auto* list = value.items()) return static_cast<std::int64_t>(list->values.size());
  need(value.dict() != nullptr, "{} has no length.", value.type());
  return static_cast<std::int64_t>(value.dict()->entries.size());
}

std::vector<Value> values_of(Runtime& runtime, const Value& value) {
  std::vector<Value> values;
  if (value.is_missing()) return values;
  if (const auto* list = value.items()) {
    values = list->values;
  } else if (const auto* dict = value.dict()) {
    for (const auto& entry : dict->entries) values.emplace_back(entry.first);
  } else {
    need(value.text() != nullptr, "a loop needs a list; got {}.", value.type());
    const auto offsets = character_offsets(value.text()->bytes());
    runtime.spend(offsets.size());
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      values.emplace_back(value.text()->slice(offsets[i], offsets[i + 1]));
    }
  }
  runtime.spend(values.size());
  return values;
}

Value member_of(const Value& object, const std::string& name) {
  if (const auto* missing = object.as<Missing>()) {
    stop("{} is undefined; got no '{}' of it.", missing->what, printable(name, 60));
  }
  if (has_method(object, name)) {
    return Value(std::make_shared<const Function>(Function{name, object, nullptr}));
  }
  const Value* found = nullptr;
  if (const auto* dict = object.dict()) found = dict->find(name);
  if (const auto* space = object.as<SpacePtr>()) found = (*space)->find(name);
  return found != nullptr ? *found : missing_entry(object, name);
}

Value entry_of(Runtime& runtime, const Value& object, const Value& index) {
  if (const auto* missing = object.as<Missing>()) stop("{} is undefined.", missing->what);
  if (const auto* key = index.text()) {
    if (const auto* dict = object.dict()) {
      runtime.spend(dict->entries.size() / 8);
      if (const auto* found = dict->find(key->bytes())) return *found;
    }
    return member_of(object, key->bytes());
  }
  const bool ordered = object.text() != nullptr || object.items() != nullptr;
  if (!ordered || !index.integer()) return missing_entry(object, printed(index).bytes());
  std::vector<std::size_t> offsets;
  if (object.text()) offsets = character_offsets(object.text()->bytes());
  runtime.spend(offsets.size() / 8);
  const auto size =
      object.text() ? static_cast<std::int64_t>(offsets.size()) - 1 : length_of(object);
  auto at = *index.integer();
  if (at < 0) at = at < -size ? size : at + size;
  if (at >= size) return missing_entry(object, std::to_string(*index.integer()));
  const auto place = static_cast<std::size_t>(at);
  return object.text() ? Value(object.text()->slice(offsets[place], offsets[place + 1]))
                       : object.items()->values[place];
}

Value slice_of(Runtime& runtime, const Value& object, const Value& begin, const Value& end,
               const Value& step) {
  if (object.is_missing()) stop("{} is undefined.", object.as<Missing>()->what);
  const auto stride = step.is_none() || step.is_missing() ? 1 : integer_of(step, "a slice");
  need(stride != 0, "a slice has the step 0.");
  need(object.text() || object.items(), "{} cannot be sliced.", object.type());
  if (const auto* list = object.items()) {
    std::vector<Value> values;
    for (const auto place : slice_places(length_of(object), begin, end, stride)) {
      values.push_back(list->values[place]);
    }
    return runtime.made_list(std::move(values), list->tuple);
  }
  const auto& text = *object.text();
  const auto offsets = character_offsets(text.bytes());
  runtime.spend(offsets.size() / 8);
  const auto places =
      slice_places(static_cast<std::int64_t>(offsets.size()) - 1, begin, end, stride);
  if (places.empty()) return Value("");
  if (stride == 1)
    return runtime.made(text.slice(offsets[places.front()], offsets[places.back() + 1]));
  runtime.spend(places.size());
  TracedText out;
  for (const auto place : places) out.append(text.slice(offsets[place], offsets[place + 1]));
  return runtime.made(std::move(out));
}

Value attribute_of(Runtime& runtime, const Value& object, const Value& path) {
  if (path.integer()) return entry_of(runtime, object, path);
  Value found = object;
  for (const auto& part : split_text(text_of(path, "attribute"), ".", -1, false)) {
    const auto& name = part.bytes();
    const bool digits = !name.empty() && name.size() < 10 &&
                        name.find_first_not_of("0123456789") == std::string::npos;
    found = entry_of(runtime, found,
                     digits ? Value(static_cast<std::int64_t>(std::stol(name))) : Value(part));
  }
  return found;
}

Value binary_operation(Runtime& runtime, std::string_view operation, const Value& left,
                       const Value& right) {
  if (operation == "~") {
    runtime.spend(static_cast<std::size_t>(left.weight() + right.weight()));
    auto text = printed(left);
    text.append(printed(right));
    return runtime.made(std::move(text));
  }
  const auto a = left.integer(), b = right.integer();
  const bool whole = a && b && operation != "/" && (operation != "**" || *b >= 0);
  if (whole) return whole_operation(runtime, operation, *a, *b);
  const auto x = left.number(), y = right.number();
  if (x && y) return real_operation(operation, *x, *y);
  if (operation == "+") {
    if (auto both = joined(runtime, left, right)) return std::move(*both);
  }
  if (operation == "*") {
    if ((left.text() || left.items()) && b) return repeated(runtime, left, *b);
    if ((right.text() || right.items()) && a) return repeated(runtime, right, *a);
  }
  refuse_operation(operation, left, right);
}

bool comparison(Runtime& runtime, std::string_view operation, const Value& left,
                const Value& right) {
  if (operation == "in") return holds(runtime, right, left);
  if (operation == "not in") return !holds(runtime, right, left);
  runtime.spend(static_cast<std::size_t>(left.weight()));
  if (operation == "==") return equal(left, right);
  if (operation == "!=") return !equal(left, right);
  const auto order = compare(left, right);
  if (!order) refuse_operation(operation, left, right);
  if (operation == "<") return *order < 0;
  if (operation == "<=") return *order <= 0;
  return operation == ">" ? *order > 0 : *order >= 0;
}

}  // namespace ubique::io::jinja
