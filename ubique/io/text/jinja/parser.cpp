// SPDX-License-Identifier: Apache-2.0
// Statements, and what both halves of the parser share.
#include "ubique/io/text/jinja/parser.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::io::jinja {
namespace {

std::string token_name(const Token& token) {
  switch (token.kind) {
    case TokenKind::End:
      return "the end of the template";
    case TokenKind::TagEnd:
      return "%}";
    case TokenKind::PrintEnd:
      return "}}";
    case TokenKind::Text:
    case TokenKind::PrintBegin:
    case TokenKind::TagBegin:
      return "text";
    default:
      return "'" + printable(token.text, 40) + "'";
  }
}

}  // namespace

Parser::Level::Level(Parser& parser) : parser_(parser) {
  ++parser_.depth_;
  if (parser_.depth_ > kDeepestTree) {
    --parser_.depth_;
    parser_.fail_here("the template is nested too deeply; expected at most " +
                      std::to_string(kDeepestTree) + " levels.");
  }
}

void Parser::fail_here(const std::string& what) const { stop_at(where_, now().line, what); }

void Parser::unexpected(std::string_view expected) const {
  fail_here("unexpected " + token_name(now()) + "; expected " + std::string(expected) + ".");
}

Token Parser::take() {
  auto token = now();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::take_operator(std::string_view operation) {
  if (!now().is(operation)) return false;
  take();
  return true;
}

bool Parser::take_name(std::string_view name) {
  if (!now().is_name(name)) return false;
  take();
  return true;
}

void Parser::expect_operator(std::string_view operation) {
  if (!take_operator(operation)) unexpected("'" + std::string(operation) + "'");
}

void Parser::expect_name(std::string_view name) {
  if (!take_name(name)) unexpected(name);
}

std::string Parser::expect_any_name() {
  if (now().kind != TokenKind::Name) unexpected("a name");
  return take().text;
}

void Parser::end_tag() {
  if (now().kind != TokenKind::TagEnd) unexpected("%}");
  take();
}

/// {% NAME %}, from its beginning.
void Parser::end_block(std::string_view name) {
  if (now().kind != TokenKind::TagBegin || !ahead().is_name(name)) {
    unexpected("{% " + std::string(name) + " %}");
  }
  take();
  take();
  end_tag();
}

Body Parser::body(const std::vector<std::string>& ends) {
  const Level level(*this);
  Body statements;
  for (;;) {
    if (now().kind == TokenKind::End) {
      if (ends.empty()) return statements;
      fail_here("a block is not closed; expected {% " + join(ends, " %} or {% ") + " %}.");
    }
    if (now().kind == TokenKind::TagBegin && ahead().kind == TokenKind::Name &&
        std::find(ends.begin(), ends.end(), ahead().text) != ends.end()) {
      return statements;
    }
    statements.push_back(statement());
  }
}

Statement Parser::statement() {
  Statement made;
  made.line = now().line;
  if (now().kind == TokenKind::Text) {
    made.text = take().text;
    return made;
  }
  if (now().kind == TokenKind::PrintBegin) {
    take();
    made.kind = StatementKind::Print;
    made.values.push_back(tuple_or_expression());
    if (now().kind != TokenKind::PrintEnd) unexpected("}}");
    take();
    return made;
  }
  if (now().kind != TokenKind::TagBegin) unexpected("a statement");
  take();
  const auto line = now().line;
  const auto finish = [&](Statement statement) {
    statement.line = line;
    return statement;
  };
  if (take_name("if")) return finish(if_statement());
  if (take_name("for")) return finish(for_statement());
  if (take_name("set")) return finish(set_statement());
  if (take_name("macro")) return finish(macro_statement());
  if (take_name("filter")) return finish(filter_statement());
  if (take_name("with")) return finish(with_statement());
  if (take_name("generation")) return finish(generation_statement());
  if (now().is_name("break") || now().is_name("continue")) {
    if (loops_ == 0) fail_here(take().text + " outside a loop.");
    made.kind = take().text == "break" ? StatementKind::Break : StatementKind::Continue;
    end_tag();
    return made;
  }
  unexpected("if, for, set, macro, filter, with, generation, break or continue");
}

Statement Parser::if_statement() {
  Statement made;
  made.kind = StatementKind::If;
  for (;;) {
    Branch branch;
    branch.condition = tuple_or_expression();
    end_tag();
    branch.body = body({"elif", "else", "endif"});
    made.branches.push_back(std::move(branch));
    if (!ahead().is_name("elif")) break;
    take();
    take();
  }
  if (ahead().is_name("else")) {
    end_block("else");
    made.otherwise = body({"endif"});
  }
  end_block("endif");
  return made;
}

std::vector<Target> Parser::targets() {
  std::vector<Target> found;
  const bool bracket = take_operator("(");
  do {
    if (now().kind != TokenKind::Name) break;  // a comma may be the last
    Target target{take().text, {}};
    if (take_operator(".")) target.attribute = expect_any_name();
    found.push_back(std::move(target));
  } while (take_operator(","));
  if (bracket) expect_operator(")");
  if (found.empty()) unexpected("a name");
  return found;
}

Statement Parser::for_statement() {
  Statement made;
  made.kind = StatementKind::For;
  made.targets = targets();
  expect_name("in");
  made.values.push_back(disjunction());  // an "if" after it is the loop's filter
  if (take_name("if")) made.condition = expression();
  if (now().is_name("recursive")) unexpected("%} (recursive loops are not supported)");
  end_tag();
  ++loops_;
  made.body = body({"else", "endfor"});
  --loops_;
  if (ahead().is_name("else")) {
    end_block("else");
    made.otherwise = body({"endfor"});
  }
  end_block("endfor");
  return made;
}

Statement Parser::set_statement() {
  Statement made;
  made.targets = targets();
  if (take_operator("=")) {
    made.kind = StatementKind::Set;
    made.values.push_back(tuple_or_expression());
    end_tag();
    return made;
  }
  made.kind = StatementKind::SetBlock;
  if (made.targets.size() != 1) unexpected("'='");
  if (now().is("|")) {  // filters of the block's text, which takes the place of an empty literal
    made.values.push_back(filters(make(ExpressionKind::Literal)));
  }
  end_tag();
  made.body = body({"endset"});
  end_block("endset");
  return made;
}

Statement Parser::macro_statement() {
  Statement made;
  made.kind = StatementKind::MacroBlock;
  made.macro = std::make_unique<Macro>();
  made.macro->name = expect_any_name();
  expect_operator("(");
  while (!now().is(")")) {
    auto name = expect_any_name();
    made.macro->parameters.emplace_back(std::move(name),
                                        take_operator("=") ? expression() : nullptr);
    if (!take_operator(",")) break;
  }
  expect_operator(")");
  end_tag();
  const auto outside = std::exchange(loops_, 0);
  made.macro->body = body({"endmacro"});
  loops_ = outside;
  end_block("endmacro");
  return made;
}

Statement Parser::filter_statement() {
  Statement made;
  made.kind = StatementKind::FilterBlock;
  auto node = filter(make(ExpressionKind::Literal));
  made.values.push_back(filters(std::move(node)));
  end_tag();
  made.body = body({"endfilter"});
  end_block("endfilter");
  return made;
}

Statement Parser::with_statement() {
  Statement made;
  made.kind = StatementKind::With;
  while (now().kind == TokenKind::Name) {
    made.targets.push_back({take().text, {}});
    expect_operator("=");
    made.values.push_back(expression());
    if (!take_operator(",")) break;
  }
  end_tag();
  made.body = body({"endwith"});
  end_block("endwith");
  return made;
}

Statement Parser::generation_statement() {
  Statement made;
  made.kind = StatementKind::Generation;
  end_tag();
  const auto outside = std::exchange(loops_, 0);
  made.body = body({"endgeneration"});
  loops_ = outside;
  end_block("endgeneration");
  return made;
}

Body parse_template(std::string_view source, const std::string& where) {
  check(source.size() <= kLongestTemplate, ErrorKind::Input,
        "[io.jinja] {} is too long; got {} bytes, expected at most {}.", where, source.size(),
        kLongestTemplate);
  return Parser(tokens_of(source, where), where).body({});
}

}  // namespace ubique::io::jinja
