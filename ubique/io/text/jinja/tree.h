// SPDX-License-Identifier: Apache-2.0
// The tree of a template: expressions, and the statements that hold them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ubique/io/text/jinja/value.h"

namespace ubique::io::jinja {

enum class ExpressionKind {
  Literal,
  Name,         ///< text: the name
  List,         ///< parts
  Tuple,        ///< parts
  Dictionary,   ///< parts: key, value, key, value ...
  Member,       ///< parts: object; text: the member after the dot
  Index,        ///< parts: object, index
  Slice,        ///< parts: object, begin, end, step (nullptr where left out)
  Call,         ///< parts: function, arguments ...; named
  Filter,       ///< parts: value, arguments ...; named; text: the filter
  Test,         ///< parts: value, arguments ...; named; text: the test
  Negative,     ///< parts: one
  Positive,     ///< parts: one
  Not,          ///< parts: one
  And,          ///< parts: two
  Or,           ///< parts: two
  Conditional,  ///< parts: condition, value, other (nullptr where left out)
  Binary,       ///< parts: two; text: the operator
  Compare,      ///< parts: n operands; operators: n - 1
};

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
  ExpressionKind kind = ExpressionKind::Literal;
  std::int64_t line = 1;
  std::int64_t depth = 1;  ///< of the tree under it
  std::string text = {};
  Value literal = {};
  std::vector<ExpressionPtr> parts = {};
  std::vector<std::pair<std::string, ExpressionPtr>> named = {};
  std::vector<std::string> operators = {};
};

/// What an assignment or loop writes to: a variable, or an attribute of a namespace.
struct Target {
  std::string name, attribute;
};

enum class StatementKind {
  Text,
  Print,
  If,
  For,
  Set,
  SetBlock,
  MacroBlock,
  FilterBlock,
  With,
  Generation,
  Break,
  Continue
};

struct Statement;
using Body = std::vector<Statement>;

struct Branch {
  ExpressionPtr condition;
  Body body;
};

/// A macro's name, parameters and body. The parameters' defaults are nullptr where there are none.
struct Macro {
  std::string name;
  std::vector<std::pair<std::string, ExpressionPtr>> parameters;
  Body body;
};

struct Statement {
  StatementKind kind = StatementKind::Text;
  std::int64_t line = 1;
  std::string text = {};
  std::vector<Target> targets = {};  ///< of For, Set and With
  std::vector<ExpressionPtr> values =
      {};                             ///< of Print, For, Set, With (one per target), FilterBlock
  ExpressionPtr condition = {};       ///< the filter of a loop
  std::vector<Branch> branches = {};  ///< of If
  Body body = {}, otherwise = {};     ///< otherwise: of If and For
  std::unique_ptr<Macro> macro = {};
};

}  // namespace ubique::io::jinja
