// SPDX-License-Identifier: Apache-2.0
// Renders turns, encodes the text, and finds the assistant's tokens in it.
#include "ubique/io/text/jinja_chat.h"

#include <algorithm>
#include <ctime>

#include "ubique/base/error.h"

namespace ubique::io {
namespace {

using jinja::Dict;
using jinja::TracedText;
using jinja::Value;

Value message_value(const Turn& turn, std::int32_t index) {
  Dict message;
  message.set(TracedText("role"), Value(std::string(to_string(turn.role))));
  message.set(TracedText("content"), Value(TracedText::given(turn.text, index)));
  return make_dict(std::move(message));
}

/// Work may grow with the conversation: 16 steps a byte are far more than a template needs.
jinja::Limits limits_for(std::span<const Turn> turns) {
  jinja::Limits limits;
  for (const auto& turn : turns) limits.steps += 16 * static_cast<std::int64_t>(turn.text.size());
  return limits;
}

void mark_range(ChatTokens& tokens, const std::vector<std::size_t>& ends, TextRange range) {
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto begin = i == 0 ? 0 : ends[i - 1];
    if (begin < range.end && ends[i] > range.begin) tokens.by_assistant[i] = true;
  }
}

}  // namespace

struct JinjaTemplate::Encoded {
  std::vector<std::int32_t> ids;
  std::vector<std::size_t> ends;
};

JinjaTemplate::JinjaTemplate(const Tokenizer& tokenizer, const JinjaChat& chat)
    : ChatTemplate(tokenizer),
      template_(chat.source, chat.where),
      variables_(chat.variables),
      now_(chat.now),
      ends_(chat.ends.begin(), chat.ends.end()) {
  find_end();
}

jinja::Rendered JinjaTemplate::render(std::span<const Turn> turns,
                                      bool add_generation_prompt) const {
  std::vector<Value> messages;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    messages.push_back(message_value(turns[i], static_cast<std::int32_t>(i)));
  }
  Dict variables;
  variables.set(TracedText("messages"), jinja::make_list(std::move(messages)));
  variables.set(TracedText("add_generation_prompt"), Value(add_generation_prompt));
  for (const auto* absent : {"tools", "documents"}) variables.set(TracedText(absent), Value());
  for (const auto& [name, text] : variables_) variables.set(TracedText(name), Value(text));
  const auto now = now_.value_or(static_cast<std::int64_t>(std::time(nullptr)));
  return template_.render(variables, now, limits_for(turns));
}

JinjaTemplate::Encoded JinjaTemplate::encoded(const TracedText& text) const {
  std::vector<TextRange> plain;
  for (const auto& span : text.spans()) plain.push_back({span.begin, span.end});
  Encoded made;
  made.ids = tokenizer().encode(text.bytes(), {.special = SpecialTokens::Parse, .plain = plain},
                                &made.ends);
  return made;
}

/// The special token that follows an assistant's text ends it, whatever the files say.
void JinjaTemplate::find_end() {
  const std::vector<Turn> turns = {{Role::User, "a"}, {Role::Assistant, "b"}};
  try {
    const auto text = render(turns, false).text;
    const auto tokens = encoded(text);
    std::size_t after = text.size();
    for (const auto& span : text.spans()) {
      if (span.source == 1) after = span.end;
    }
    for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
      if (tokens.ends[i] <= after || !tokenizer().is_special(tokens.ids[i])) continue;
      ends_.insert(tokens.ids[i]);
      return;
    }
  } catch (const Error&) {
    // A template that refuses this conversation has its ends from the files alone.
  }
}

std::vector<std::int32_t> JinjaTemplate::prompt(std::span<const Turn> turns) const {
  return encoded(render(turns, true).text).ids;
}

TextRange JinjaTemplate::assistant_range(std::span<const Turn> turns, std::size_t turn,
                                         const TracedText& text, const Encoded& tokens) const {
  const auto prompt = render(turns.first(turn), true).text.bytes();
  const bool begins = text.bytes().starts_with(prompt);
  const auto source = static_cast<std::int32_t>(turn);
  auto first = text.size(), last = begins ? prompt.size() : 0, next = text.size();
  for (const auto& span : text.spans()) {
    if (span.source == source) {
      first = std::min(first, span.begin);
      last = std::max(last, span.end);
    } else if (span.source > source) {
      next = std::min(next, span.begin);
    }
  }
  check(begins || first < text.size(), ErrorKind::Input,
        "[io.chat] the chat template does not show where the text of turn {} went; expected it in "
        "the rendered conversation, or {{% generation %}} blocks in the template.",
        turn + 1);
  const auto begin = begins ? prompt.size() : first;
  for (std::size_t i = 0; i < tokens.ids.size() && tokens.ends[i] <= next; ++i) {
    if (tokens.ends[i] > last && ends_.contains(tokens.ids[i])) return {begin, tokens.ends[i]};
  }
  return {begin, last};
}

ChatTokens JinjaTemplate::conversation(std::span<const Turn> turns) const {
  const auto rendered = render(turns, false);
  const auto tokens = encoded(rendered.text);
  ChatTokens result{tokens.ids, std::vector<bool>(tokens.ids.size(), false)};
  if (template_.marks_generation()) {
    for (const auto& [begin, end] : rendered.generated) {
      mark_range(result, tokens.ends, {begin, end});
    }
    return result;
  }
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (turns[i].role != Role::Assistant) continue;
    mark_range(result, tokens.ends, assistant_range(turns, i, rendered.text, tokens));
  }
  return result;
}

}  // namespace ubique::io
