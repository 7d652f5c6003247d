// SPDX-License-Identifier: Apache-2.0
// Builds the tree of a template from its tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ubique/io/text/jinja/lexer.h"
#include "ubique/io/text/jinja/tree.h"

namespace ubique::io::jinja {

/// Longer templates are refused; the longest in use have 20 kB.
inline constexpr std::size_t kLongestTemplate = std::size_t{1} << 20U;
/// How deeply expressions and blocks may be nested.
inline constexpr std::int64_t kDeepestTree = 120;

/// Input error that names the line and what was met there.
Body parse_template(std::string_view source, const std::string& where);

class Parser {
 public:
  Parser(std::vector<Token> tokens, const std::string& where)
      : tokens_(std::move(tokens)), where_(where) {}

  /// Statements up to a tag that begins with one of `ends` (which is left unread), or to the end.
  Body body(const std::vector<std::string>& ends);

 private:
  // Tokens.
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take();
  bool take_operator(std::string_view operation);
  bool take_name(std::string_view name);
  void expect_operator(std::string_view operation);
  void expect_name(std::string_view name);
  std::string expect_any_name();
  void end_tag();
  void end_block(std::string_view name);
  [[noreturn]] void unexpected(std::string_view expected) const;
  [[noreturn]] void fail_here(const std::string& what) const;

  // Statements.
  Statement statement();
  Statement if_statement();
  Statement for_statement();
  Statement set_statement();
  Statement macro_statement();
  Statement filter_statement();
  Statement with_statement();
  Statement generation_statement();
  std::vector<Target> targets();

  // Expressions, from loosely to tightly bound.
  ExpressionPtr expression();  ///< with "a if b else c"
  ExpressionPtr tuple_or_expression();
  ExpressionPtr disjunction();
  ExpressionPtr conjunction();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr binary(int level);
  ExpressionPtr unary(bool with_filters);
  ExpressionPtr primary();
  ExpressionPtr name_or_constant();
  ExpressionPtr string();
  ExpressionPtr number();
  ExpressionPtr bracketed();
  ExpressionPtr dictionary();
  ExpressionPtr postfix(ExpressionPtr node);
  ExpressionPtr member(ExpressionPtr object);
  ExpressionPtr subscript(ExpressionPtr object);
  ExpressionPtr filters(ExpressionPtr node);
  ExpressionPtr filter(ExpressionPtr node);
  ExpressionPtr test(ExpressionPtr node);
  void arguments(Expression& call);

  ExpressionPtr make(ExpressionKind kind, std::string text = {}) const;
  void add(Expression& node, ExpressionPtr part) const;

  /// Counts levels of recursion for as long as it lives.
  class Level {
   public:
    explicit Level(Parser& parser);
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  std::vector<Token> tokens_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::int64_t depth_ = 0;
  std::int64_t loops_ = 0;  // around the current place, for break and continue
};

}  // namespace ubique::io::jinja
