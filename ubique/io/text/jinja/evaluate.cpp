// SPDX-License-Identifier: Apache-2.0
// Expressions, names and calls.
#include <algorithm>

#include "ubique/base/text/printable.h"
#include "ubique/io/text/jinja/fault.h"
#include "ubique/io/text/jinja/renderer.h"

namespace ubique::io::jinja {

Value Renderer::name_value(const std::string& name) {
  for (auto at = scopes_.size(); at > 0; --at) {
    if (at - 1 < floor_ && at - 1 > 0) continue;  // of those that called a macro
    const auto& scope = scopes_[at - 1];
    spend(scope.size() / 8);
    for (const auto& [known, value] : scope) {
      if (known == name) return value;
    }
  }
  if (has_function(name)) {
    return Value(std::make_shared<const Function>(Function{name, Value(), nullptr}));
  }
  return Value(Missing{"'" + printable(name, 60) + "'"});
}

Value Renderer::evaluate(const Expression& node) {
  const Level level(*this);
  spend(1);
  line_ = node.line;
  switch (node.kind) {
    case ExpressionKind::Literal:
      return node.literal;
    case ExpressionKind::Name:
      return name_value(node.text);
    case ExpressionKind::List:
    case ExpressionKind::Tuple:
    case ExpressionKind::Dictionary:
      return evaluate_collection(node);
    case ExpressionKind::Member:
    case ExpressionKind::Index:
    case ExpressionKind::Slice:
      return evaluate_access(node);
    case ExpressionKind::Call:
    case ExpressionKind::Filter:
    case ExpressionKind::Test:
      return evaluate_call(node);
    case ExpressionKind::Compare:
      return evaluate_chain(node);
    default:
      return evaluate_operator(node);
  }
}

Value Renderer::evaluate_operator(const Expression& node) {
  auto first = evaluate(*node.parts[0]);
  switch (node.kind) {
    case ExpressionKind::Not:
      return Value(!first.truth());
    case ExpressionKind::And:
      return first.truth() ? evaluate(*node.parts[1]) : first;
    case ExpressionKind::Or:
      return first.truth() ? first : evaluate(*node.parts[1]);
    case ExpressionKind::Conditional:
      if (first.truth()) return evaluate(*node.parts[1]);
      return node.parts[2] ? evaluate(*node.parts[2]) : Value(Missing{"the missing else"});
    case ExpressionKind::Negative:
      return binary_operation(*this, "-", Value(std::int64_t{0}), first);
    case ExpressionKind::Positive:
      return binary_operation(*this, "+", Value(std::int64_t{0}), first);
    default:
      return binary_operation(*this, node.text, first, evaluate(*node.parts[1]));
  }
}

/// a < b < c: each operand once, and no further than the first that is false.
Value Renderer::evaluate_chain(const Expression& node) {
  auto left = evaluate(*node.parts[0]);
  for (std::size_t i = 0; i < node.operators.size(); ++i) {
    auto right = evaluate(*node.parts[i + 1]);
    if (!comparison(*this, node.operators[i], left, right)) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Value Renderer::evaluate_collection(const Expression& node) {
  if (node.kind != ExpressionKind::Dictionary) {
    std::vector<Value> values;
    for (const auto& part : node.parts) values.push_back(evaluate(*part));
    return made_list(std::move(values), node.kind == ExpressionKind::Tuple);
  }
  Dict dict;
  for (std::size_t i = 0; i + 1 < node.parts.size(); i += 2) {
    const auto key = evaluate(*node.parts[i]);
    need(key.text() != nullptr, "the key of a dictionary is a string; got {}.", key.type());
    spend(dict.entries.size() / 8);
    dict.set(*key.text(), evaluate(*node.parts[i + 1]));
  }
  return make_dict(std::move(dict));
}

Value Renderer::optional_part(const Expression& node, std::size_t index) {
  return node.parts[index] ? evaluate(*node.parts[index]) : Value();
}

Value Renderer::evaluate_access(const Expression& node) {
  const auto object = evaluate(*node.parts[0]);
  if (node.kind == ExpressionKind::Member) {
    if (object.dict()) spend(object.dict()->entries.size() / 8);
    return member_of(object, node.text);
  }
  if (node.kind == ExpressionKind::Index) {
    return entry_of(*this, object, evaluate(*node.parts[1]));
  }
  const auto begin = optional_part(node, 1), end = optional_part(node, 2);
  return slice_of(*this, object, begin, end, optional_part(node, 3));
}

Arguments Renderer::arguments_of(const Expression& node) {
  Arguments arguments;
  for (std::size_t i = 1; i < node.parts.size(); ++i) {
    arguments.values.push_back(evaluate(*node.parts[i]));
  }
  for (const auto& [name, value] : node.named) {
    arguments.named.emplace_back(name, evaluate(*value));
  }
  return arguments;
}

Value Renderer::evaluate_call(const Expression& node) {
  // The innermost literal of a block's filters stands for the block's text.
  const auto& target = *node.parts[0];
  const bool block = block_text_ != nullptr && node.kind == ExpressionKind::Filter &&
                     target.kind == ExpressionKind::Literal;
  const auto subject = block ? *std::exchange(block_text_, nullptr) : evaluate(target);
  const auto arguments = arguments_of(node);
  line_ = node.line;
  if (node.kind == ExpressionKind::Filter) {
    return apply_filter(*this, node.text, subject, arguments);
  }
  if (node.kind == ExpressionKind::Test) {
    return Value(apply_test(*this, node.text, subject, arguments));
  }
  if (const auto* missing = subject.as<Missing>()) {
    stop("{} is called, but is undefined.", missing->what);
  }
  const auto* function = subject.as<FunctionPtr>();
  need(function != nullptr, "{} cannot be called.", subject.type());
  return call(**function, arguments);
}

Value Renderer::call(const Function& function, const Arguments& arguments) {
  if (function.macro != nullptr) return call_macro(*function.macro, arguments);
  if (has_method(function.self, function.name)) return call_method(*this, function, arguments);
  if (function.name == "loop.cycle") {
    need(!arguments.values.empty(), "cycle needs values.");
    const auto at = static_cast<std::size_t>(function.self.integer().value_or(0));
    return arguments.values[at % arguments.values.size()];
  }
  return call_function(*this, function.name, arguments);
}

Value Renderer::call_macro(const Macro& macro, const Arguments& arguments) {
  const Level level(*this);
  need(arguments.values.size() <= macro.parameters.size(),
       "the macro '{}' takes {} arguments; got {}.", printable(macro.name, 60),
       macro.parameters.size(), arguments.values.size());
  for (const auto& [name, value] : arguments.named) {
    const bool known = std::any_of(macro.parameters.begin(), macro.parameters.end(),
                                   [&](const auto& each) { return each.first == name; });
    need(known, "the macro '{}' has no argument '{}'.", printable(macro.name, 60),
         printable(name, 60));
  }
  const Inner scope(*this);
  const auto floor = std::exchange(floor_, scopes_.size() - 1);
  for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
    const auto& [name, otherwise] = macro.parameters[i];
    Value value(Missing{"'" + printable(name, 60) + "'"});
    bool passed = i < arguments.values.size();
    if (passed) value = arguments.values[i];
    for (const auto& [given, named] : arguments.named) {
      if (given != name) continue;
      need(!passed, "'{}' is passed twice.", printable(name, 60));
      passed = true;
      value = named;
    }
    if (!passed && otherwise) value = evaluate(*otherwise);
    assign({name, {}}, value);
  }
  TracedText text;
  execute(macro.body, text);
  floor_ = floor;
  return made(std::move(text));
}

}  // namespace ubique::io::jinja
