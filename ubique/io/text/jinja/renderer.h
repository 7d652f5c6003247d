// SPDX-License-Identifier: Apache-2.0
// Runs the tree of a template.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ubique/io/text/jinja/builtins.h"
#include "ubique/io/text/jinja/template.h"

namespace ubique::io::jinja {

class Renderer : public Runtime {
 public:
  Renderer(const Limits& limits, std::int64_t now) : limits_(limits), now_(now) {}

  Rendered run(const Body& body, const Dict& variables);
  /// The line of the last statement or expression that was begun.
  std::int64_t line() const { return line_; }

  void spend(std::size_t units) override;
  std::int64_t now() const override { return now_; }

 private:
  using Scope = std::vector<std::pair<std::string, Value>>;
  enum class Flow { Next, Break, Continue };

  // Statements.
  Flow execute(const Body& body, TracedText& out);
  Flow execute(const Statement& statement, TracedText& out);
  Flow execute_if(const Statement& statement, TracedText& out);
  void execute_for(const Statement& statement, TracedText& out);
  void execute_set(const Statement& statement);
  void execute_block(const Statement& statement, TracedText& out);
  void write(TracedText& out, const TracedText& text);
  std::vector<Value> loop_values(const Statement& statement);
  Value loop_state(const std::vector<Value>& values, std::size_t index);
  void assign_all(const std::vector<Target>& targets, const Value& value);
  void assign(const Target& target, const Value& value);

  // Expressions.
  Value evaluate(const Expression& node);
  Value evaluate_operator(const Expression& node);
  Value evaluate_access(const Expression& node);
  Value evaluate_collection(const Expression& node);
  Value evaluate_chain(const Expression& node);
  Value evaluate_call(const Expression& node);
  Value optional_part(const Expression& node, std::size_t index);
  Arguments arguments_of(const Expression& node);
  Value call(const Function& function, const Arguments& arguments);
  Value call_macro(const Macro& macro, const Arguments& arguments);
  Value name_value(const std::string& name);

  /// Counts levels of recursion for as long as it lives.
  class Level {
   public:
    explicit Level(Renderer& renderer);
    ~Level() { --renderer_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Renderer& renderer_;
  };
  /// A scope for as long as it lives.
  class Inner {
   public:
    explicit Inner(Renderer& renderer) : renderer_(renderer) { renderer_.scopes_.emplace_back(); }
    ~Inner() { renderer_.scopes_.pop_back(); }
    Inner(const Inner&) = delete;
    Inner& operator=(const Inner&) = delete;

   private:
    Renderer& renderer_;
  };

  Limits limits_;
  std::int64_t now_;
  std::int64_t line_ = 1, steps_ = 0, depth_ = 0;
  std::vector<Scope> scopes_;  // the first holds the variables given and those set at the top
  std::size_t floor_ = 0;      // the first scope of the macro that runs; those below are hidden
  const Value* block_text_ = nullptr;  // what the filters of a block apply to
  const TracedText* main_ = nullptr;   // the output itself, not a part of it
  Rendered rendered_;
};

}  // namespace ubique::io::jinja
