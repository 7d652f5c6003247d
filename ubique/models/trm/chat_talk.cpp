// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/trm/chat_talk.h"

#include "ubique/base/error.h"
#include "ubique/base/names.h"
#include "ubique/io/utf8.h"

namespace ubique::trm {
namespace {

constexpr NameTable<AnswerEnd, 4> kAnswerEnds{{{AnswerEnd::Marker, "marker"},
                                               {AnswerEnd::Length, "length"},
                                               {AnswerEnd::Window, "window"},
                                               {AnswerEnd::Stopped, "stopped"}}};

/// Bytes become text as soon as their characters are whole.
class TextStream {
 public:
  TextStream(std::string& text, const ShowText& show) : text_(text), show_(show) {}

  bool add(std::string_view bytes) {
    pending_ += bytes;
    return pass(io::complete_utf8(pending_));
  }
  bool finish() { return pass(pending_.size()); }

 private:
  bool pass(std::size_t length) {
    const auto ready = io::replace_invalid_utf8(std::string_view(pending_).substr(0, length));
    pending_.erase(0, length);
    text_ += ready;
    return ready.empty() || !show_ || show_(ready);
  }

  std::string& text_;
  const ShowText& show_;
  std::string pending_;
};

}  // namespace

std::string_view to_string(AnswerEnd end) { return name_of(kAnswerEnds, end); }

Talk::Talk(ChatDecoder& decoder, const data::ChatTokens& tokens, TalkOptions options)
    : decoder_(decoder), tokens_(tokens), options_(options), random_(options.seed) {
  validate(options_.choice);
  check(options_.max_new_tokens > 0, ErrorKind::Usage,
        "[trm.chat] --max-new-tokens is out of range; got {}, expected 1 or more.",
        options_.max_new_tokens);
  check(tokens.tokenizer().size() == decoder.vocabulary(), ErrorKind::Input,
        "[trm.chat] the tokenizer is not the model's; got {} tokens, expected {}. --tokenizer "
        "names another.",
        tokens.tokenizer().size(), decoder.vocabulary());
}

void Talk::set_system(const std::string& text) {
  if (!turns_.empty() && turns_.front().role == data::Role::System) turns_.erase(turns_.begin());
  if (!text.empty()) turns_.insert(turns_.begin(), {data::Role::System, text});
}

void Talk::forget() {
  std::erase_if(turns_, [](const data::Turn& turn) { return turn.role != data::Role::System; });
}

/// The oldest question with its answer; false if only the last question is left.
bool Talk::forget_oldest() {
  const std::size_t first = !turns_.empty() && turns_.front().role == data::Role::System ? 1 : 0;
  if (turns_.size() <= first + 1) return false;
  auto last = first + 1;
  while (last + 1 < turns_.size() && turns_[last].role == data::Role::Assistant) ++last;
  turns_.erase(turns_.begin() + static_cast<std::ptrdiff_t>(first),
               turns_.begin() + static_cast<std::ptrdiff_t>(last));
  return true;
}

/// The prompt of as many of the last turns as leave room for `after` tokens; empty if none do.
std::vector<std::int32_t> Talk::prompt_that_fits(std::size_t after, Answered& answered) {
  const auto room = static_cast<std::size_t>(decoder_.room());
  for (;;) {
    auto prompt = tokens_.prompt(turns_);
    if (prompt.size() + after <= room) return prompt;
    const auto before = turns_.size();
    if (!forget_oldest()) return {};
    answered.forgotten += static_cast<std::int64_t>(before - turns_.size());
  }
}

AnswerEnd Talk::speak(std::vector<std::int32_t> prompt, Answered& answered, const ShowText& show) {
  TextStream stream(answered.text, show);
  std::vector<std::int32_t> said;
  auto logits = decoder_.read(prompt);
  for (;;) {
    const auto token = data::choose_token(logits, options_.choice, random_, drawn_++);
    if (tokens_.tokenizer().is_special(token)) {
      return stream.finish() ? AnswerEnd::Marker : AnswerEnd::Stopped;
    }
    said.push_back(token);
    ++answered.new_tokens;
    if (!stream.add(tokens_.tokenizer().bytes(token))) return AnswerEnd::Stopped;
    if (answered.new_tokens == options_.max_new_tokens) {
      return stream.finish() ? AnswerEnd::Length : AnswerEnd::Stopped;
    }
    if (static_cast<std::int64_t>(decoder_.tokens().size()) < decoder_.room()) {
      logits = decoder_.read_on(token);
      continue;
    }
    prompt = prompt_that_fits(said.size(), answered);
    if (prompt.empty()) {
      return stream.finish() ? AnswerEnd::Window : AnswerEnd::Stopped;
    }
    prompt.insert(prompt.end(), said.begin(), said.end());
    logits = decoder_.read(prompt);
  }
}

Answered Talk::answer(const std::string& question, const ShowText& show) {
  Answered answered;
  const data::Turn turn{data::Role::User, question};
  std::vector<data::Turn> alone = turns_;
  std::erase_if(alone, [](const data::Turn& each) { return each.role != data::Role::System; });
  alone.push_back(turn);
  const auto least = static_cast<std::int64_t>(tokens_.prompt(alone).size());
  check(least <= decoder_.room(), ErrorKind::Input,
        "[trm.chat] the question is too long; got {} tokens with its markers, expected at most {} "
        "(the model's window).",
        least, decoder_.room());
  turns_.push_back(turn);
  const auto prompt = prompt_that_fits(0, answered);
  answered.prompt_tokens = static_cast<std::int64_t>(prompt.size());
  answered.end = speak(prompt, answered, show);
  turns_.push_back({data::Role::Assistant, answered.text});
  return answered;
}

}  // namespace ubique::trm
