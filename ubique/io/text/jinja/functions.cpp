// SPDX-License-Identifier: Apache-2.0
// The global functions that transformers gives to templates.
#include <cmath>
#include <ctime>
#include <unordered_map>

#include "ubique/base/text/printable.h"
#include "ubique/io/text/jinja/builtins.h"
#include "ubique/io/text/jinja/fault.h"

namespace ubique::io::jinja {
namespace {

using GlobalFunction = Value (*)(Runtime&, const Arguments&);

constexpr std::int64_t kLongestRange = 100'000;

Value range_function(Runtime& runtime, const Arguments& arguments) {
  auto bound = arguments.bind("range", {"start", "stop", "step"});
  if (bound[1].is_missing()) {
    bound[1] = bound[0];
    bound[0] = Value(std::int64_t{0});
  }
  const auto begin = integer_of(bound[0], "range"), end = integer_of(bound[1], "range");
  const auto step = bound[2].is_missing() ? 1 : integer_of(bound[2], "range");
  need(step != 0, "range: the step is 0.");
  const auto span = step > 0 ? static_cast<double>(end) - static_cast<double>(begin)
                             : static_cast<double>(begin) - static_cast<double>(end);
  const auto count = span / std::abs(static_cast<double>(step));
  need(count <= static_cast<double>(kLongestRange), "range is too long; expected at most {} steps.",
       kLongestRange);
  std::vector<Value> values;
  auto at = begin;
  while (step > 0 ? at < end : at > end) {
    values.emplace_back(at);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return runtime.made_list(std::move(values));
}

Dict entries_of(Runtime& runtime, const Arguments& arguments, std::string_view what) {
  Dict dict;
  need(arguments.values.size() <= 1, "{} takes one dictionary at most.", what);
  if (!arguments.values.empty()) {
    need(arguments.values[0].dict() != nullptr, "{} needs a dictionary; got {}.", what,
         arguments.values[0].type());
    dict = *arguments.values[0].dict();
  }
  for (const auto& [name, value] : arguments.named) dict.set(TracedText(name), value);
  runtime.spend(dict.entries.size());
  return dict;
}

Value dict_function(Runtime& runtime, const Arguments& arguments) {
  return make_dict(entries_of(runtime, arguments, "dict"));
}

Value namespace_function(Runtime& runtime, const Arguments& arguments) {
  // Counted and checked as a dictionary, then kept as one that can change.
  const auto checked = make_dict(entries_of(runtime, arguments, "namespace"));
  return Value(std::make_shared<Dict>(*checked.dict()));
}

Value raise_function(Runtime&, const Arguments& arguments) {
  const auto bound = arguments.bind("raise_exception", {"message"});
  stop("the template refuses the conversation: {}", printable(printed(bound[0]).bytes(), 400));
}

/// Only what strftime is defined for in every C library, and the minus that leaves out zeros.
void check_time_format(std::string_view format) {
  need(format.size() <= 200, "strftime_now: the format is too long.");
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    ++i;
    if (i < format.size() && format[i] == '-') ++i;
    const bool known =
        i < format.size() &&
        std::string_view("aAbBcdeFHIjmMpSTuUVwWxXyYzZ%").find(format[i]) != std::string_view::npos;
    need(known, "strftime_now does not know the format '{}'.", printable(format, 60));
  }
}

Value time_function(Runtime& runtime, const Arguments& arguments) {
  const auto format = text_of(arguments.bind("strftime_now", {"format"})[0], "strftime_now");
  check_time_format(format.bytes());
  const auto seconds = static_cast<std::time_t>(runtime.now());
  std::tm local{};
  need(localtime_r(&seconds, &local) != nullptr, "strftime_now: the time is out of range.");
  char buffer[4096];
  const auto length = std::strftime(buffer, sizeof buffer, format.bytes().c_str(), &local);
  return runtime.made(TracedText(std::string(buffer, length)));
}

const std::unordered_map<std::string_view, GlobalFunction>& global_functions() {
  static const std::unordered_map<std::string_view, GlobalFunction> functions = {
      {"range", range_function},         {"dict", dict_function},
      {"namespace", namespace_function}, {"raise_exception", raise_function},
      {"strftime_now", time_function},
  };
  return functions;
}

}  // namespace

bool has_function(std::string_view name) { return global_functions().contains(name); }

Value call_function(Runtime& runtime, const std::string& name, const Arguments& arguments) {
  return global_functions().at(name)(runtime, arguments);
}

}  // namespace ubique::io::jinja
