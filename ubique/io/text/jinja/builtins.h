// SPDX-License-Identifier: Apache-2.0
// What expressions can call: operators, filters, tests, methods and global functions. None reaches
// files, the environment or code.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ubique/io/text/jinja/value.h"

namespace ubique::io::jinja {

struct Arguments {
  std::vector<Value> values = {};
  std::vector<std::pair<std::string, Value>> named = {};

  /// The values of parameters by position or name; a missing value where none was passed. A fault
  /// for arguments that `what` does not take.
  std::vector<Value> bind(std::string_view what, std::initializer_list<const char*> names) const;
};

/// What a running template lends to its builtins.
class Runtime {
 public:
  virtual ~Runtime() = default;
  /// Counts work; a fault when the template has done too much.
  virtual void spend(std::size_t units) = 0;
  /// Seconds since 1970.
  virtual std::int64_t now() const = 0;
  /// Counts the bytes of a text, and returns it as a value.
  Value made(TracedText text);
  Value made_list(std::vector<Value> values, bool tuple = false);
};

Value apply_filter(Runtime& runtime, const std::string& name, const Value& value,
                   const Arguments& arguments);
bool apply_test(Runtime& runtime, const std::string& name, const Value& value,
                const Arguments& arguments);

/// Filters of lists; nothing if the name is none of theirs.
std::optional<Value> apply_list_filter(Runtime& runtime, const std::string& name,
                                       const Value& value, const Arguments& arguments);

/// object.name: a method or an entry; a missing value if it has neither.
Value member_of(const Value& object, const std::string& name);
/// object[index].
Value entry_of(Runtime& runtime, const Value& object, const Value& index);
/// object[begin:end:step]; none or missing where left out.
Value slice_of(Runtime& runtime, const Value& object, const Value& begin, const Value& end,
               const Value& step);
/// The path "a.b.0" of the filters that take an attribute.
Value attribute_of(Runtime& runtime, const Value& object, const Value& path);

/// Whether values of this type have the method.
bool has_method(const Value& object, std::string_view name);
Value call_method(Runtime& runtime, const Function& method, const Arguments& arguments);
/// Whether a global function has the name.
bool has_function(std::string_view name);
Value call_function(Runtime& runtime, const std::string& name, const Arguments& arguments);

Value binary_operation(Runtime& runtime, std::string_view operation, const Value& left,
                       const Value& right);
/// left OPERATION right for == != < <= > >= in, not in.
bool comparison(Runtime& runtime, std::string_view operation, const Value& left,
                const Value& right);

/// The values that a loop over it takes: entries, keys or characters; none of a missing value.
std::vector<Value> values_of(Runtime& runtime, const Value& value);
/// Python's len(); a fault for what has none.
std::int64_t length_of(const Value& value);
/// The integer argument `what`; a fault for another type.
std::int64_t integer_of(const Value& value, std::string_view what);
/// The text argument `what`; a fault for another type.
const TracedText& text_of(const Value& value, std::string_view what);

}  // namespace ubique::io::jinja
