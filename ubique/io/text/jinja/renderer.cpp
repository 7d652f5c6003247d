// SPDX-License-Identifier: Apache-2.0
// Statements.
#include "ubique/io/text/jinja/renderer.h"

#include <algorithm>

#include "ubique/base/text/printable.h"
#include "ubique/io/text/jinja/fault.h"
#include "ubique/io/text/jinja/lexer.h"
#include "ubique/io/text/jinja/parser.h"

namespace ubique::io::jinja {
namespace {

bool has_generation(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const Statement& each) {
    const auto inside = [](const Branch& branch) { return has_generation(branch.body); };
    return each.kind == StatementKind::Generation || has_generation(each.body) ||
           has_generation(each.otherwise) ||
           std::any_of(each.branches.begin(), each.branches.end(), inside);
  });
}

}  // namespace

Renderer::Level::Level(Renderer& renderer) : renderer_(renderer) {
  need(renderer_.depth_ < renderer_.limits_.depth,
       "the template goes too deep; expected at most {} levels.", renderer_.limits_.depth);
  ++renderer_.depth_;
}

void Renderer::spend(std::size_t units) {
  constexpr std::size_t kMost = std::size_t{1} << 40U;
  steps_ += static_cast<std::int64_t>(std::min(units, kMost));
  need(steps_ <= limits_.steps, "the template does too much; expected at most {} steps.",
       limits_.steps);
}

void Renderer::write(TracedText& out, const TracedText& text) {
  spend(text.size() / 16);
  need(out.size() + text.size() <= limits_.output,
       "the text becomes too long; expected at most {} bytes.", limits_.output);
  out.append(text);
}

Rendered Renderer::run(const Body& body, const Dict& variables) {
  scopes_.emplace_back();
  for (const auto& [name, value] : variables.entries) {
    scopes_.front().emplace_back(name.bytes(), value);
  }
  TracedText out;
  main_ = &out;
  execute(body, out);
  rendered_.text = std::move(out);
  return std::move(rendered_);
}

Renderer::Flow Renderer::execute(const Body& body, TracedText& out) {
  const Level level(*this);
  for (const auto& statement : body) {
    spend(1);
    line_ = statement.line;
    const auto flow = execute(statement, out);
    if (flow != Flow::Next) return flow;
  }
  return Flow::Next;
}

Renderer::Flow Renderer::execute(const Statement& statement, TracedText& out) {
  switch (statement.kind) {
    case StatementKind::Text:
      write(out, TracedText(statement.text));
      break;
    case StatementKind::Print: {
      const auto value = evaluate(*statement.values.front());
      spend(static_cast<std::size_t>(value.weight()));
      write(out, printed(value));
      break;
    }
    case StatementKind::If:
      return execute_if(statement, out);
    case StatementKind::For:
      execute_for(statement, out);
      break;
    case StatementKind::Set:
      execute_set(statement);
      break;
    case StatementKind::MacroBlock: {
      const auto* macro = statement.macro.get();
      assign({macro->name, {}},
             Value(std::make_shared<const Function>(Function{macro->name, Value(), macro})));
      break;
    }
    case StatementKind::SetBlock:
    case StatementKind::FilterBlock:
    case StatementKind::With:
    case StatementKind::Generation:
      execute_block(statement, out);
      break;
    case StatementKind::Break:
      return Flow::Break;
    case StatementKind::Continue:
      return Flow::Continue;
  }
  return Flow::Next;
}

Renderer::Flow Renderer::execute_if(const Statement& statement, TracedText& out) {
  for (const auto& branch : statement.branches) {
    if (evaluate(*branch.condition).truth()) return execute(branch.body, out);
  }
  return execute(statement.otherwise, out);
}

/// The values that pass the loop's own filter.
std::vector<Value> Renderer::loop_values(const Statement& statement) {
  auto values = values_of(*this, evaluate(*statement.values.front()));
  if (!statement.condition) return values;
  const Inner scope(*this);
  std::erase_if(values, [&](const Value& value) {
    scopes_.back().clear();
    assign_all(statement.targets, value);
    return !evaluate(*statement.condition).truth();
  });
  return values;
}

Value Renderer::loop_state(const std::vector<Value>& values, std::size_t index) {
  const auto at = static_cast<std::int64_t>(index),
             count = static_cast<std::int64_t>(values.size());
  Dict loop;
  const auto set = [&](const char* name, Value value) {
    loop.entries.emplace_back(TracedText(name), std::move(value));
  };
  set("index", Value(at + 1));
  set("index0", Value(at));
  set("first", Value(at == 0));
  set("last", Value(at + 1 == count));
  set("length", Value(count));
  set("revindex", Value(count - at));
  set("revindex0", Value(count - at - 1));
  set("depth", Value(std::int64_t{1}));  // only recursive loops go deeper
  set("depth0", Value(std::int64_t{0}));
  if (index > 0) set("previtem", values[index - 1]);
  if (index + 1 < values.size()) set("nextitem", values[index + 1]);
  set("cycle", Value(std::make_shared<const Function>(Function{"loop.cycle", Value(at), nullptr})));
  return make_dict(std::move(loop));
}

void Renderer::execute_for(const Statement& statement, TracedText& out) {
  const auto values = loop_values(statement);
  for (std::size_t i = 0; i < values.size(); ++i) {
    spend(8);
    const Inner scope(*this);
    scopes_.back().emplace_back("loop", loop_state(values, i));
    assign_all(statement.targets, values[i]);
    if (execute(statement.body, out) == Flow::Break) break;
  }
  if (values.empty()) execute(statement.otherwise, out);
}

void Renderer::assign_all(const std::vector<Target>& targets, const Value& value) {
  if (targets.size() == 1) return assign(targets.front(), value);
  const auto values = values_of(*this, value);
  need(values.size() == targets.size(), "{} values are assigned to {} names.", values.size(),
       targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) assign(targets[i], values[i]);
}

void Renderer::assign(const Target& target, const Value& value) {
  if (target.attribute.empty()) {
    auto& scope = scopes_.back();
    spend(scope.size() / 8);
    for (auto& [name, old] : scope) {
      if (name == target.name) {
        old = value;
        return;
      }
    }
    scope.emplace_back(target.name, value);
    return;
  }
  const auto object = name_value(target.name);
  const auto* space = object.as<SpacePtr>();
  need(space != nullptr, "only a namespace's attributes can be set; '{}' is {}.",
       printable(target.name, 60), object.type());
  (void)make_list({value});  // the rules of what a value may contain
  spend((*space)->entries.size() / 8);
  (*space)->set(TracedText(target.attribute), value);
}

void Renderer::execute_set(const Statement& statement) {
  assign_all(statement.targets, evaluate(*statement.values.front()));
}

void Renderer::execute_block(const Statement& statement, TracedText& out) {
  const bool kept = statement.kind == StatementKind::SetBlock;
  const auto start = out.size();
  TracedText text;
  {
    std::vector<Value> given;
    for (const auto& value : statement.values) {
      if (statement.kind == StatementKind::With) given.push_back(evaluate(*value));
    }
    const Inner scope(*this);
    for (std::size_t i = 0; i < given.size(); ++i) assign(statement.targets[i], given[i]);
    const bool straight =
        statement.kind == StatementKind::With || statement.kind == StatementKind::Generation;
    execute(statement.body, straight ? out : text);
  }
  if (statement.kind == StatementKind::Generation && &out == main_ && out.size() > start) {
    rendered_.generated.emplace_back(start, out.size());
  }
  if (!kept && statement.kind != StatementKind::FilterBlock) return;
  auto value = made(std::move(text));
  if (!statement.values.empty()) {
    const auto* outer = std::exchange(block_text_, &value);
    auto changed = evaluate(*statement.values.front());
    block_text_ = outer;
    value = std::move(changed);
  }
  if (kept) return assign(statement.targets.front(), value);
  write(out, printed(value));
}

Template::Template(std::string_view source, std::string where)
    : where_(std::move(where)),
      body_(std::make_shared<const Body>(parse_template(source, where_))),
      marks_generation_(has_generation(*body_)) {}

Rendered Template::render(const Dict& variables, std::int64_t now, const Limits& limits) const {
  Renderer renderer(limits, now);
  try {
    return renderer.run(*body_, variables);
  } catch (const Fault& fault) {
    stop_at(where_, renderer.line(), fault.text());
  }
}

}  // namespace ubique::io::jinja
