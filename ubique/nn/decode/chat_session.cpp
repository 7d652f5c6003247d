// SPDX-License-Identifier: Apache-2.0
// Turns, prompts that fit the context window, and the generation loop.
#include "ubique/nn/decode/chat_session.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/names.h"
#include "ubique/device/threads/load_aware_threads.h"

namespace ubique::nn {
namespace {

constexpr NameTable<ReplyEnd, 4> kReplyEnds{{{ReplyEnd::Marker, "marker"},
                                             {ReplyEnd::Length, "length"},
                                             {ReplyEnd::Window, "window"},
                                             {ReplyEnd::Stopped, "stopped"}}};

}  // namespace

std::string_view to_string(ReplyEnd end) { return name_of(kReplyEnds, end); }

ChatSession::ChatSession(Decoder& decoder, const io::ChatTemplate& tokens, ChatOptions options)
    : decoder_(decoder), tokens_(tokens), options_(options), random_(options.seed) {
  validate(options_.sampling);
  check(options_.max_new_tokens > 0, ErrorKind::Usage,
        "[nn.chat] --max-new-tokens is out of range; got {}, expected 1 or more.",
        options_.max_new_tokens);
  check(tokens.fits_vocabulary(decoder.vocabulary()), ErrorKind::Input,
        "[nn.chat] the tokenizer is not the model's; got {} tokens, expected {}. --tokenizer "
        "names another.",
        tokens.tokenizer().size(), decoder.vocabulary());
}

void ChatSession::set_system(const std::string& text) {
  if (!turns_.empty() && turns_.front().role == io::Role::System) turns_.erase(turns_.begin());
  if (!text.empty()) turns_.insert(turns_.begin(), {io::Role::System, text});
}

void ChatSession::forget() {
  std::erase_if(turns_, [](const io::Turn& turn) { return turn.role != io::Role::System; });
}

/// Drops the oldest question with its answer; false if only the last question is left.
bool ChatSession::forget_oldest() {
  const std::size_t first = !turns_.empty() && turns_.front().role == io::Role::System ? 1 : 0;
  if (turns_.size() <= first + 1) return false;
  auto last = first + 1;
  while (last + 1 < turns_.size() && turns_[last].role == io::Role::Assistant) ++last;
  turns_.erase(turns_.begin() + static_cast<std::ptrdiff_t>(first),
               turns_.begin() + static_cast<std::ptrdiff_t>(last));
  return true;
}

/// The prompt of the turns, after dropping the oldest until `after` more tokens fit; empty if they
/// never do.
std::vector<std::int32_t> ChatSession::prompt_that_fits(std::size_t after, Reply& reply) {
  const auto room = static_cast<std::size_t>(decoder_.context_length());
  for (;;) {
    auto prompt = tokens_.prompt(turns_);
    if (prompt.size() + after <= room) return prompt;
    const auto before = turns_.size();
    if (!forget_oldest()) return {};
    reply.forgotten += static_cast<std::int64_t>(before - turns_.size());
  }
}

ReplyEnd ChatSession::generate(std::vector<std::int32_t> prompt, Reply& reply,
                               const ShowText& show) {
  TextStream stream(reply.text, show);
  std::vector<std::int32_t> said;
  device::LoadAwareThreads threads;
  const auto& tokenizer = tokens_.tokenizer();
  // Some models have more logits than tokens, to fill up a round number.
  const auto known = std::min(tokenizer.size(), decoder_.vocabulary());
  auto logits = decoder_.prefill(prompt);
  for (;;) {
    logits.resize(std::min(logits.size(), static_cast<std::size_t>(known)));
    const auto token = sample_token(logits, options_.sampling, random_, drawn_++);
    if (tokens_.ends_reply(token)) {
      return stream.finish() ? ReplyEnd::Marker : ReplyEnd::Stopped;
    }
    said.push_back(token);
    ++reply.new_tokens;
    // A special token that ends nothing is part of the reply, not of its text.
    const bool shown = !tokenizer.is_special(token);
    if (shown && !stream.add(tokenizer.bytes(token))) return ReplyEnd::Stopped;
    if (reply.new_tokens == options_.max_new_tokens) {
      return stream.finish() ? ReplyEnd::Length : ReplyEnd::Stopped;
    }
    if (static_cast<std::int64_t>(decoder_.tokens().size()) < decoder_.context_length()) {
      logits = threads.run([&] { return decoder_.step(token); });
      continue;
    }
    prompt = prompt_that_fits(said.size(), reply);
    if (prompt.empty()) {
      return stream.finish() ? ReplyEnd::Window : ReplyEnd::Stopped;
    }
    prompt.insert(prompt.end(), said.begin(), said.end());
    logits = decoder_.prefill(prompt);
  }
}

Reply ChatSession::ask(const std::string& question, const ShowText& show) {
  Reply reply;
  const io::Turn turn{io::Role::User, question};
  std::vector<io::Turn> alone = turns_;
  std::erase_if(alone, [](const io::Turn& each) { return each.role != io::Role::System; });
  alone.push_back(turn);
  const auto least = static_cast<std::int64_t>(tokens_.prompt(alone).size());
  check(least <= decoder_.context_length(), ErrorKind::Input,
        "[nn.chat] the question is too long; got {} tokens with its markers, expected at most {} "
        "(the model's window).",
        least, decoder_.context_length());
  turns_.push_back(turn);
  const auto prompt = prompt_that_fits(0, reply);
  reply.prompt_tokens = static_cast<std::int64_t>(prompt.size());
  reply.end = generate(prompt, reply, show);
  turns_.push_back({io::Role::Assistant, reply.text});
  return reply;
}

}  // namespace ubique::nn
