// SPDX-License-Identifier: Apache-2.0
// Expressions, with Jinja's precedence: filters and tests bind more tightly than any operator.
#include <array>
#include <charconv>
#include <cstdlib>

#include "ubique/io/text/jinja/parser.h"

namespace ubique::io::jinja {
namespace {

/// Operators by level, loosest first.
constexpr std::array<std::array<std::string_view, 4>, 4> kBinaryLevels{
    {{"+", "-"}, {"~"}, {"*", "/", "//", "%"}, {"**"}}};

bool is_comparison(const Token& token) {
  for (const auto* operation : {"==", "!=", "<", "<=", ">", ">="}) {
    if (token.is(operation)) return true;
  }
  return false;
}

}  // namespace

ExpressionPtr Parser::make(ExpressionKind kind, std::string text) const {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->line = now().line;
  node->text = std::move(text);
  return node;
}

/// Bounds the depth of chains such as a.b.c, which are parsed without recursion but evaluated with.
void Parser::add(Expression& node, ExpressionPtr part) const {
  if (part) node.depth = std::max(node.depth, part->depth + 1);
  if (node.depth > kDeepestTree) {
    fail_here("an expression is too long; expected at most " + std::to_string(kDeepestTree) +
              " operations inside each other.");
  }
  node.parts.push_back(std::move(part));
}

ExpressionPtr Parser::expression() {
  const Level level(*this);
  auto node = disjunction();
  while (now().is_name("if")) {
    auto choice = make(ExpressionKind::Conditional);
    take();
    add(*choice, disjunction());
    add(*choice, std::move(node));
    add(*choice, take_name("else") ? expression() : nullptr);
    node = std::move(choice);
  }
  return node;
}

ExpressionPtr Parser::tuple_or_expression() {
  auto first = expression();
  if (!now().is(",")) return first;
  auto tuple = make(ExpressionKind::Tuple);
  add(*tuple, std::move(first));
  while (take_operator(",")) {
    if (now().kind == TokenKind::TagEnd || now().kind == TokenKind::PrintEnd || now().is(")"))
      break;
    add(*tuple, expression());
  }
  return tuple;
}

ExpressionPtr Parser::disjunction() {
  auto left = conjunction();
  while (now().is_name("or")) {
    auto node = make(ExpressionKind::Or);
    take();
    add(*node, std::move(left));
    add(*node, conjunction());
    left = std::move(node);
  }
  return left;
}

ExpressionPtr Parser::conjunction() {
  auto left = negation();
  while (now().is_name("and")) {
    auto node = make(ExpressionKind::And);
    take();
    add(*node, std::move(left));
    add(*node, negation());
    left = std::move(node);
  }
  return left;
}

ExpressionPtr Parser::negation() {
  if (!now().is_name("not")) return comparison();
  const Level level(*this);
  auto node = make(ExpressionKind::Not);
  take();
  add(*node, negation());
  return node;
}

ExpressionPtr Parser::comparison() {
  auto first = binary(0);
  ExpressionPtr chain;
  for (;;) {
    std::string operation;
    if (is_comparison(now())) {
      operation = take().text;
    } else if (take_name("in")) {
      operation = "in";
    } else if (now().is_name("not") && ahead().is_name("in")) {
      take();
      take();
      operation = "not in";
    } else {
      return chain ? std::move(chain) : std::move(first);
    }
    if (!chain) {
      chain = make(ExpressionKind::Compare);
      add(*chain, std::move(first));
    }
    chain->operators.push_back(std::move(operation));
    add(*chain, binary(0));
  }
}

ExpressionPtr Parser::binary(int level) {
  if (level == static_cast<int>(kBinaryLevels.size())) return unary(true);
  auto left = binary(level + 1);
  for (;;) {
    std::string found;
    for (const auto operation : kBinaryLevels[static_cast<std::size_t>(level)]) {
      if (!operation.empty() && now().is(operation)) found = operation;
    }
    if (found.empty()) return left;
    auto node = make(ExpressionKind::Binary, found);
    take();
    add(*node, std::move(left));
    add(*node, binary(level + 1));
    left = std::move(node);
  }
}

ExpressionPtr Parser::unary(bool with_filters) {
  const Level level(*this);
  ExpressionPtr node;
  if (now().is("-") || now().is("+")) {
    node = make(now().is("-") ? ExpressionKind::Negative : ExpressionKind::Positive);
    take();
    add(*node, unary(false));
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filters ? filters(std::move(node)) : std::move(node);
}

ExpressionPtr Parser::primary() {
  switch (now().kind) {
    case TokenKind::Name:
      return name_or_constant();
    case TokenKind::String:
      return string();
    case TokenKind::Integer:
    case TokenKind::Float:
      return number();
    default:
      break;
  }
  if (now().is("(") || now().is("[")) return bracketed();
  if (now().is("{")) return dictionary();
  unexpected("an expression");
}

ExpressionPtr Parser::name_or_constant() {
  auto node = make(ExpressionKind::Literal);
  const auto name = take().text;
  if (name == "true" || name == "True") {
    node->literal = Value(true);
  } else if (name == "false" || name == "False") {
    node->literal = Value(false);
  } else if (name != "none" && name != "None") {
    node->kind = ExpressionKind::Name;
    node->text = name;
  }
  return node;
}

ExpressionPtr Parser::string() {
  auto node = make(ExpressionKind::Literal);
  std::string text;
  while (now().kind == TokenKind::String) text += take().text;
  node->literal = Value(std::move(text));
  return node;
}

ExpressionPtr Parser::number() {
  auto node = make(ExpressionKind::Literal);
  const auto& token = now();
  if (token.kind == TokenKind::Float) {
    node->literal = Value(std::strtod(token.text.c_str(), nullptr));
  } else {
    std::int64_t value = 0;
    const auto* end = token.text.data() + token.text.size();
    const auto [stop, fault] = std::from_chars(token.text.data(), end, value);
    if (fault != std::errc() || stop != end) fail_here("an integer is too large.");
    node->literal = Value(value);
  }
  take();
  return node;
}

/// A list, a tuple, or an expression in brackets.
ExpressionPtr Parser::bracketed() {
  const bool list = now().is("[");
  auto node = make(list ? ExpressionKind::List : ExpressionKind::Tuple);
  const std::string_view close = list ? "]" : ")";
  take();
  bool comma = list || now().is(close);
  while (!now().is(close)) {
    add(*node, expression());
    if (!take_operator(",")) break;
    comma = true;
  }
  expect_operator(close);
  return comma ? std::move(node) : std::move(node->parts.front());
}

ExpressionPtr Parser::dictionary() {
  auto node = make(ExpressionKind::Dictionary);
  take();
  while (!now().is("}")) {
    add(*node, expression());
    expect_operator(":");
    add(*node, expression());
    if (!take_operator(",")) break;
  }
  expect_operator("}");
  return node;
}

ExpressionPtr Parser::postfix(ExpressionPtr node) {
  for (;;) {
    if (now().is(".")) {
      node = member(std::move(node));
    } else if (now().is("[")) {
      node = subscript(std::move(node));
    } else if (now().is("(")) {
      auto call = make(ExpressionKind::Call);
      add(*call, std::move(node));
      arguments(*call);
      node = std::move(call);
    } else {
      return node;
    }
  }
}

ExpressionPtr Parser::member(ExpressionPtr object) {
  auto node = make(ExpressionKind::Member);
  take();
  add(*node, std::move(object));
  if (now().kind == TokenKind::Integer) {
    node->kind = ExpressionKind::Index;
    add(*node, number());
  } else {
    node->text = expect_any_name();
  }
  return node;
}

ExpressionPtr Parser::subscript(ExpressionPtr object) {
  auto node = make(ExpressionKind::Index);
  take();
  add(*node, std::move(object));
  std::array<ExpressionPtr, 3> parts;
  std::size_t count = 0;
  for (;;) {
    if (!now().is(":") && !now().is("]")) parts[count] = expression();
    if (count == 2 || !now().is(":")) break;
    take();
    node->kind = ExpressionKind::Slice;
    ++count;
  }
  if (node->kind == ExpressionKind::Index && !parts[0]) unexpected("an index");
  expect_operator("]");
  add(*node, std::move(parts[0]));
  if (node->kind == ExpressionKind::Slice) {
    add(*node, std::move(parts[1]));
    add(*node, std::move(parts[2]));
  }
  return node;
}

ExpressionPtr Parser::filters(ExpressionPtr node) {
  for (;;) {
    if (take_operator("|")) {
      node = filter(std::move(node));
    } else if (take_name("is")) {
      node = test(std::move(node));
    } else if (now().is("(")) {
      auto call = make(ExpressionKind::Call);
      add(*call, std::move(node));
      arguments(*call);
      node = std::move(call);
    } else {
      return node;
    }
  }
}

ExpressionPtr Parser::filter(ExpressionPtr value) {
  auto node = make(ExpressionKind::Filter);
  node->text = expect_any_name();
  add(*node, std::move(value));
  if (now().is("(")) arguments(*node);
  return node;
}

/// "x is not defined", "x is divisibleby 3", "x is in(list)".
ExpressionPtr Parser::test(ExpressionPtr value) {
  const bool inverted = take_name("not");
  auto node = make(ExpressionKind::Test);
  node->text = expect_any_name();
  add(*node, std::move(value));
  const auto& next = now();
  const bool word = next.kind == TokenKind::Name && next.text != "else" && next.text != "or" &&
                    next.text != "and" && next.text != "is" && next.text != "if" &&
                    next.text != "in" && next.text != "not";
  if (next.is("(")) {
    arguments(*node);
  } else if (word || next.kind == TokenKind::String || next.kind == TokenKind::Integer ||
             next.kind == TokenKind::Float || next.is("[") || next.is("{")) {
    add(*node, postfix(primary()));
  }
  if (!inverted) return node;
  auto negated = make(ExpressionKind::Not);
  add(*negated, std::move(node));
  return negated;
}

void Parser::arguments(Expression& call) {
  expect_operator("(");
  while (!now().is(")")) {
    if (now().is("*") || now().is("**")) unexpected("an argument (unpacking is not supported)");
    if (now().kind == TokenKind::Name && ahead().is("=")) {
      auto name = take().text;
      take();
      auto value = expression();
      call.depth = std::max(call.depth, value->depth + 1);
      call.named.emplace_back(std::move(name), std::move(value));
    } else {
      if (!call.named.empty()) unexpected("a named argument");
      add(call, expression());
    }
    if (!take_operator(",")) break;
  }
  expect_operator(")");
}

}  // namespace ubique::io::jinja
