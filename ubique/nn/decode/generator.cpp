// SPDX-License-Identifier: Apache-2.0
// Running requests, the passes that they share, and guesses that a pass confirms.
#include "ubique/nn/decode/generator.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/nn/decode/lookup.h"
#include "ubique/nn/decode/stop_filter.h"

namespace ubique::nn {
namespace {

bool contains(const std::vector<std::int32_t>& list, std::int32_t token) {
  return std::ranges::find(list, token) != list.end();
}

std::size_t shared_prefix(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

/// A request in its slot.
struct Generator::Running {
  Running(GenerateRequest what, std::int64_t where, const Generator& generator)
      : request(std::move(what)),
        slot(where),
        tokenizer(generator.tokenizer_),
        room(generator.decoder_.context_length()),
        vocabulary(generator.decoder_.vocabulary()),
        random(request.options.seed),
        text(request.prompt),
        guesses(request.options.lookup) {}

  Wanted wanted() const {
    const auto& sampling = request.options.sampling;
    const bool greedy = sampling.temperature == 0 && sampling.repetition_penalty == 1;
    return greedy ? Wanted::Likeliest : Wanted::Logits;
  }

  /// The tokens of its next pass: the last one chosen, and guesses at those that follow.
  void propose() {
    const auto& limit = request.options.max_new_tokens;
    const auto left = std::min(limit - count(made.tokens), room - count(text) + 1) - 1;
    const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(left, 0, guesses));
    const auto found = look_up(text, most);
    proposed.assign(1, text.back());
    proposed.insert(proposed.end(), found.begin(), found.end());
  }

  /// Chooses tokens from the rows of its pass, as long as the guesses were right. Returns how many
  /// tokens of the pass stay in the text.
  std::size_t accept(const Predictions& next, std::size_t row) {
    ++made.passes;
    std::size_t kept = 1;
    while (take(choose(next, row + kept - 1)) && kept < proposed.size() &&
           proposed[kept] == text.back()) {
      ++kept;
    }
    // Guesses cost time: after a wrong one fewer are made, after right ones more.
    const auto right = static_cast<std::int64_t>(kept) - 1;
    if (proposed.size() > 1) {
      guesses = kept == proposed.size() ? std::min(request.options.lookup, 2 * right)
                                        : std::max<std::int64_t>(right, 1);
    }
    return kept;
  }

  bool ended() const { return done; }

  void finish() {
    if (!filter.finish()) made.end = CompletionEnd::Stopped;
    if (request.finished) request.finished(made);
  }

  static std::int64_t count(const std::vector<std::int32_t>& tokens) {
    return static_cast<std::int64_t>(tokens.size());
  }

  std::int32_t choose(const Predictions& next, std::size_t row) {
    if (next.logits.empty()) return next.likeliest[row];
    const auto width = static_cast<std::size_t>(vocabulary);
    std::vector<float> logits(next.logits.begin() + static_cast<std::ptrdiff_t>(row * width),
                              next.logits.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
    const auto& sampling = request.options.sampling;
    penalize_repetition(logits, text, sampling.repetition_penalty);
    return sample_token(logits, sampling, random, made.tokens.size());
  }

  /// Adds a token to the text; false if it ends there.
  bool take(std::int32_t token) {
    const auto end = [this](CompletionEnd why) {
      made.end = why;
      done = true;
      return false;
    };
    const auto& options = request.options;
    if (tokenizer.is_special(token) || contains(options.stop_tokens, token)) {
      return end(CompletionEnd::Token);
    }
    made.tokens.push_back(token);
    text.push_back(token);
    const bool more = filter.add(tokenizer.bytes(token));
    if (filter.found()) return end(CompletionEnd::Text);
    if (!more) return end(CompletionEnd::Stopped);
    if (count(made.tokens) == options.max_new_tokens) return end(CompletionEnd::Length);
    if (count(text) > room) return end(CompletionEnd::Window);
    return true;
  }

  GenerateRequest request;
  std::int64_t slot;
  const io::Tokenizer& tokenizer;
  std::int64_t room, vocabulary;
  Random random;
  std::vector<std::int32_t> text;  // the prompt and what was made
  std::int64_t guesses;            // how many to make at most
  std::vector<std::int32_t> proposed = {};
  Completion made = {};
  bool done = false;
  TextStream stream{made.text, request.show};
  StopFilter filter{request.options.stop_texts, stream};
};

Generator::Generator(Decoder& decoder, const io::Tokenizer& tokenizer)
    : decoder_(decoder), tokenizer_(tokenizer) {}

Generator::~Generator() = default;

void Generator::submit(GenerateRequest request) {
  validate(request.options);
  const auto room = decoder_.context_length();
  check(!request.prompt.empty() && static_cast<std::int64_t>(request.prompt.size()) < room,
        ErrorKind::Input,
        "[nn.generate] the prompt does not fit; got {} tokens, expected 1 to {} (the model's "
        "context, and one to generate).",
        request.prompt.size(), room - 1);
  waiting_.push_back(std::move(request));
}

/// The free slot whose text shares most with the prompt; -1 if all are taken.
std::int64_t Generator::best_slot(std::span<const std::int32_t> prompt) const {
  std::int64_t best = -1;
  std::size_t most = 0;
  for (std::int64_t slot = 0; slot < decoder_.slots(); ++slot) {
    const bool taken =
        std::ranges::any_of(running_, [&](const auto& each) { return each->slot == slot; });
    if (taken) continue;
    const auto shared = shared_prefix(decoder_.tokens(slot), prompt);
    if (best >= 0 && shared <= most) continue;
    best = slot;
    most = shared;
  }
  return best;
}

void Generator::join() {
  while (!waiting_.empty()) {
    const auto slot = best_slot(waiting_.front().prompt);
    if (slot < 0) return;
    auto joined = std::make_unique<Running>(std::move(waiting_.front()), slot, *this);
    waiting_.pop_front();
    joined->accept(decoder_.start({slot, joined->request.prompt}, joined->wanted()), 0);
    if (joined->ended()) {
      joined->finish();
    } else {
      running_.push_back(std::move(joined));
    }
  }
}

bool Generator::step() {
  if (waiting_.empty() && running_.empty()) return false;
  join();
  if (running_.empty()) return true;
  std::vector<Extension> extensions;
  auto wanted = Wanted::Likeliest;
  for (const auto& each : running_) {
    each->propose();
    extensions.push_back({each->slot, each->proposed});
    if (each->wanted() == Wanted::Logits) wanted = Wanted::Logits;
  }
  const auto next = threads_.run([&] { return decoder_.extend(extensions, wanted); });
  std::size_t row = 0;
  for (const auto& each : running_) {
    const auto rejected = each->proposed.size() - each->accept(next, row);
    row += each->proposed.size();
    const auto length = decoder_.tokens(each->slot).size() - rejected;
    decoder_.shorten(each->slot, static_cast<std::int64_t>(length));
    if (each->ended()) each->finish();
  }
  std::erase_if(running_, [](const auto& each) { return each->ended(); });
  return true;
}

}  // namespace ubique::nn
