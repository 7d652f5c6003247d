// SPDX-License-Identifier: Apache-2.0
// Turns, prompts that fit the context window, and the generation loop.
#include "ubique/nn/decode/chat_session.h"

#include <algorithm>
#include <optional>

#include "ubique/base/error.h"
#include "ubique/base/text/names.h"
#include "ubique/device/threads/load_aware_threads.h"
#include "ubique/nn/decode/lookup.h"

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
  validate_lookup(options_.lookup);
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

/// A reply that is being made: the tokens said so far, and what the network predicts behind them.
class ChatSession::Speaking {
 public:
  Speaking(ChatSession& chat, Reply& reply, const ShowText& show)
      : chat_(chat),
        reply_(reply),
        stream_(reply.text, show),
        guesses_(chat.options_.lookup),
        // Some models have more logits than tokens, to fill up a round number.
        known_(std::min(chat.tokens_.tokenizer().size(), chat.decoder_.vocabulary())),
        wanted_(chat.options_.sampling.temperature == 0 && known_ == chat.decoder_.vocabulary()
                    ? Wanted::Likeliest
                    : Wanted::Logits) {}

  void begin(const std::vector<std::int32_t>& prompt) {
    text_ = prompt;
    guesses_.propose(text_, 0);
    next_ = chat_.decoder_.start({0, text_}, wanted_);
    ++reply_.passes;
  }

  /// Says what the last pass predicts, as long as its guesses were right; the end if it is reached.
  std::optional<ReplyEnd> say() {
    const auto& proposed = guesses_.proposed();
    std::size_t kept = 0;
    std::optional<ReplyEnd> end;
    do {
      end = take(choose(kept++));
    } while (!end && kept < proposed.size() && proposed[kept] == text_.back());
    guesses_.learn(kept);
    auto& decoder = chat_.decoder_;
    const auto length = decoder.tokens().size() - (proposed.size() - kept);
    decoder.shorten(0, static_cast<std::int64_t>(length));
    return end;
  }

  /// False if the context window is full.
  bool go_on(device::LoadAwareThreads& threads) {
    auto& decoder = chat_.decoder_;
    const auto room =
        decoder.context_length() - static_cast<std::int64_t>(decoder.tokens().size()) - 1;
    if (room < 0) return false;
    const auto left = chat_.options_.max_new_tokens - reply_.new_tokens - 1;
    const Extension extension{0, guesses_.propose(text_, std::min(room, left))};
    next_ = threads.run([&] { return decoder.extend({&extension, 1}, wanted_); });
    ++reply_.passes;
    return true;
  }

  ReplyEnd finish(ReplyEnd end) { return stream_.finish() ? end : ReplyEnd::Stopped; }
  const std::vector<std::int32_t>& said() const { return said_; }

 private:
  std::int32_t choose(std::size_t row) {
    const auto position = chat_.drawn_++;
    if (wanted_ == Wanted::Likeliest) return next_.likeliest[row];
    const auto width = static_cast<std::size_t>(chat_.decoder_.vocabulary());
    const auto logits = std::span<const float>(next_.logits).subspan(row * width);
    return sample_token(logits.first(static_cast<std::size_t>(known_)), chat_.options_.sampling,
                        chat_.random_, position);
  }

  std::optional<ReplyEnd> take(std::int32_t token) {
    if (chat_.tokens_.ends_reply(token)) return finish(ReplyEnd::Marker);
    said_.push_back(token);
    text_.push_back(token);
    ++reply_.new_tokens;
    // A special token that ends nothing is part of the reply, not of its text.
    const auto& tokenizer = chat_.tokens_.tokenizer();
    const bool shown = !tokenizer.is_special(token);
    if (shown && !stream_.add(tokenizer.bytes(token))) return ReplyEnd::Stopped;
    if (reply_.new_tokens < chat_.options_.max_new_tokens) return std::nullopt;
    return finish(ReplyEnd::Length);
  }

  ChatSession& chat_;
  Reply& reply_;
  TextStream stream_;
  Guesses guesses_;
  std::int64_t known_;
  Wanted wanted_;
  Predictions next_ = {};
  std::vector<std::int32_t> text_, said_;  // with the prompt, and without
};

ReplyEnd ChatSession::generate(const std::vector<std::int32_t>& prompt, Reply& reply,
                               const ShowText& show) {
  device::LoadAwareThreads threads;
  Speaking speaking(*this, reply, show);
  speaking.begin(prompt);
  for (;;) {
    if (const auto end = speaking.say()) return *end;
    if (speaking.go_on(threads)) continue;
    auto shorter = prompt_that_fits(speaking.said().size(), reply);
    if (shorter.empty()) return speaking.finish(ReplyEnd::Window);
    shorter.insert(shorter.end(), speaking.said().begin(), speaking.said().end());
    speaking.begin(shorter);
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
