// SPDX-License-Identifier: Apache-2.0
// The generation loop, and text that waits until it cannot become a stop text.
#include "ubique/nn/decode/generate.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/names.h"
#include "ubique/device/threads/load_aware_threads.h"

namespace ubique::nn {
namespace {

constexpr NameTable<CompletionEnd, 5> kCompletionEnds{{{CompletionEnd::Token, "token"},
                                                       {CompletionEnd::Text, "text"},
                                                       {CompletionEnd::Length, "length"},
                                                       {CompletionEnd::Window, "window"},
                                                       {CompletionEnd::Stopped, "stopped"}}};

/// Passes text on once it can no longer be the beginning of a stop text.
class StopFilter {
 public:
  StopFilter(const std::vector<std::string>& stops, TextStream& out) : stops_(stops), out_(out) {}

  bool found() const { return found_; }
  /// False if the receiver wants no more.
  bool add(std::string_view bytes) {
    held_ += bytes;
    auto end = std::string::npos;
    for (const auto& stop : stops_) end = std::min(end, held_.find(stop));
    found_ = end != std::string::npos;
    return pass(found_ ? end : held_.size() - could_begin_stop());
  }
  /// The rest, which turned out to be no stop text.
  bool finish() { return (found_ || pass(held_.size())) && out_.finish(); }

 private:
  bool pass(std::size_t count) {
    const auto certain = held_.substr(0, count);
    held_.erase(0, count);
    return certain.empty() || out_.add(certain);
  }
  /// Bytes at the end that a stop text may begin with.
  std::size_t could_begin_stop() const {
    std::size_t longest = 0;
    for (const auto& stop : stops_) {
      for (auto n = std::min(stop.size() - 1, held_.size()); n > longest; --n) {
        if (std::string_view(held_).ends_with(std::string_view(stop).substr(0, n))) longest = n;
      }
    }
    return longest;
  }

  const std::vector<std::string>& stops_;
  TextStream& out_;
  std::string held_;
  bool found_ = false;
};

bool contains(const std::vector<std::int32_t>& list, std::int32_t token) {
  return std::ranges::find(list, token) != list.end();
}

}  // namespace

std::string_view to_string(CompletionEnd end) { return name_of(kCompletionEnds, end); }

void validate(const GenerateOptions& options) {
  validate(options.sampling);
  check(options.max_new_tokens > 0, ErrorKind::Usage,
        "[nn.generate] --max-new-tokens is out of range; got {}, expected 1 or more.",
        options.max_new_tokens);
  for (const auto& stop : options.stop_texts) {
    check(!stop.empty(), ErrorKind::Usage, "[nn.generate] a stop text is empty.");
  }
}

Completion generate(Decoder& decoder, std::span<const std::int32_t> prompt,
                    const io::Tokenizer& tokenizer, const GenerateOptions& options,
                    const ShowText& show) {
  validate(options);
  const auto room = decoder.context_length();
  check(!prompt.empty() && static_cast<std::int64_t>(prompt.size()) < room, ErrorKind::Input,
        "[nn.generate] the prompt does not fit; got {} tokens, expected 1 to {} (the model's "
        "context, and one to generate).",
        prompt.size(), room - 1);
  Completion made;
  TextStream stream(made.text, show);
  StopFilter filter(options.stop_texts, stream);
  const Random random(options.seed);
  device::LoadAwareThreads threads;
  std::vector<std::int32_t> context(prompt.begin(), prompt.end());
  auto logits = decoder.prefill(prompt);
  for (;;) {
    penalize_repetition(logits, context, options.sampling.repetition_penalty);
    const auto token = sample_token(logits, options.sampling, random, made.tokens.size());
    if (tokenizer.is_special(token) || contains(options.stop_tokens, token)) {
      made.end = CompletionEnd::Token;
      break;
    }
    made.tokens.push_back(token);
    context.push_back(token);
    if (!filter.add(tokenizer.bytes(token))) made.end = CompletionEnd::Stopped;
    if (filter.found()) made.end = CompletionEnd::Text;
    const bool ended = filter.found() || made.end == CompletionEnd::Stopped;
    if (ended || static_cast<std::int64_t>(made.tokens.size()) == options.max_new_tokens) break;
    if (static_cast<std::int64_t>(decoder.tokens().size()) == room) {
      made.end = CompletionEnd::Window;
      break;
    }
    logits = threads.run([&] { return decoder.step(token); });
  }
  if (!filter.finish()) made.end = CompletionEnd::Stopped;
  return made;
}

}  // namespace ubique::nn
