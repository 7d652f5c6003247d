// SPDX-License-Identifier: Apache-2.0
// Running requests, the passes that they share, and guesses that a pass confirms.
#include "ubique/nn/decode/generator.h"

#include <algorithm>
#include <optional>

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
  Running(Waiting what, std::int64_t where, const Generator& generator)
      : number(what.number),
        request(std::move(what.request)),
        slot(where),
        tokenizer(generator.tokenizer_),
        room(generator.decoder_.context_length()),
        vocabulary(generator.decoder_.vocabulary()),
        // Some models have more logits than tokens, to fill up a round number.
        known(std::min(tokenizer.size(), vocabulary)),
        random(request.options.seed),
        text(request.prompt),
        guesses(request.options.lookup) {}

  Wanted wanted() const {
    const auto& options = request.options;
    const auto& sampling = options.sampling;
    const bool unchanged = sampling.repetition_penalty == 1 && options.changes.none() &&
                           options.likeliest < 0 && known == vocabulary;
    if (!unchanged) return Wanted::Logits;
    if (sampling.temperature == 0) return Wanted::Likeliest;
    // With some to spare, since the device may rank equal logits in another order.
    return sampling.top_k > 0 && sampling.top_k <= kRanked / 2 ? Wanted::Ranked : Wanted::Logits;
  }

  /// The tokens of its next pass: the last one chosen, and guesses at those that follow.
  const std::vector<std::int32_t>& propose() {
    const auto& limit = request.options.max_new_tokens;
    return guesses.propose(text, std::min(limit - count(made.tokens), room - count(text) + 1) - 1);
  }

  /// Chooses tokens from the rows of its pass, as long as the guesses were right. Returns how many
  /// tokens of the pass stay in the text.
  std::size_t accept(const Predictions& next, std::size_t row) {
    ++made.passes;
    const auto& proposed = guesses.proposed();
    std::size_t kept = 1;
    while (take(choose(next, row + kept - 1)) && kept < proposed.size() &&
           proposed[kept] == text.back()) {
      ++kept;
    }
    guesses.learn(kept);
    return kept;
  }

  bool ended() const { return done; }

  /// Lets the request end with an error of its own, or throws it on.
  void fail(const Error& error) {
    if (!request.failed) throw error;
    done = true;
    request.finished = {};
    request.show = {};
    request.failed(error);
  }

  void finish() {
    if (!filter.finish()) made.end = CompletionEnd::Stopped;
    if (request.finished) request.finished(made);
  }

  static std::int64_t count(const std::vector<std::int32_t>& tokens) {
    return static_cast<std::int64_t>(tokens.size());
  }

  std::int32_t choose(const Predictions& next, std::size_t row) {
    if (!next.likeliest.empty()) return next.likeliest[row];
    if (!next.ranked.empty()) {
      const auto count = static_cast<std::size_t>(std::min(kRanked, vocabulary));
      return sample_ranked(std::span(next.ranked).subspan(row * count, count),
                           request.options.sampling, random, made.tokens.size());
    }
    const auto width = static_cast<std::size_t>(vocabulary);
    const auto model = std::span(next.logits).subspan(row * width, static_cast<std::size_t>(known));
    std::vector<float> logits(model.begin(), model.end());
    const auto& options = request.options;
    penalize_repetition(logits, text, options.sampling.repetition_penalty);
    change_logits(logits, made.tokens, options.changes);
    const auto token = sample_token(logits, options.sampling, random, made.tokens.size());
    if (options.likeliest >= 0) logprobs = logprobs_of(model, token, options.likeliest);
    return token;
  }

  /// Adds a token to the text; false if it ends there.
  bool take(std::int32_t token) {
    const auto end = [this](CompletionEnd why) {
      made.end = why;
      done = true;
      return false;
    };
    const auto& options = request.options;
    const bool special = tokenizer.is_special(token);
    if ((special && options.special_ends) || contains(options.stop_tokens, token)) {
      return end(CompletionEnd::Token);
    }
    made.tokens.push_back(token);
    text.push_back(token);
    if (request.chosen) request.chosen(token, logprobs);
    const bool more = special || filter.add(tokenizer.bytes(token));
    if (filter.found()) return end(CompletionEnd::Text);
    if (!more) return end(CompletionEnd::Stopped);
    if (count(made.tokens) == options.max_new_tokens) return end(CompletionEnd::Length);
    if (count(text) > room) return end(CompletionEnd::Window);
    return true;
  }

  std::uint64_t number;
  GenerateRequest request;
  std::int64_t slot;
  const io::Tokenizer& tokenizer;
  std::int64_t room, vocabulary, known;
  Random random;
  std::vector<std::int32_t> text;  // the prompt and what was made
  Guesses guesses;
  std::vector<TokenLogprob> logprobs = {};  // of the token chosen last
  Completion made = {};
  bool done = false;
  TextStream stream{made.text, request.show};
  StopFilter filter{request.options.stop_texts, stream};
};

Generator::Generator(Decoder& decoder, const io::Tokenizer& tokenizer)
    : decoder_(decoder), tokenizer_(tokenizer) {}

Generator::~Generator() = default;

std::uint64_t Generator::submit(GenerateRequest request) {
  validate(request.options);
  const auto room = decoder_.context_length();
  check(!request.prompt.empty() && static_cast<std::int64_t>(request.prompt.size()) < room,
        ErrorKind::Input,
        "[nn.generate] the prompt does not fit; got {} tokens, expected 1 to {} (the model's "
        "context, and one to generate).",
        request.prompt.size(), room - 1);
  waiting_.push_back({++submitted_, std::move(request)});
  return submitted_;
}

void Generator::cancel(std::uint64_t request) {
  const auto waits = std::ranges::find(waiting_, request, &Waiting::number);
  if (waits != waiting_.end()) {
    const auto finished = std::move(waits->request.finished);
    waiting_.erase(waits);
    if (finished) finished({.text = {}, .tokens = {}, .end = CompletionEnd::Stopped});
    return;
  }
  const auto runs = std::ranges::find(running_, request, [](const auto& r) { return r->number; });
  if (runs == running_.end()) return;
  (*runs)->made.end = CompletionEnd::Stopped;
  if ((*runs)->request.finished) (*runs)->request.finished((*runs)->made);
  running_.erase(runs);
}

/// The free slot whose text shares most with the prompt; -1 if all are taken.
std::int64_t Generator::best_slot(std::span<const std::int32_t> prompt,
                                  const Joining& joining) const {
  std::int64_t best = -1;
  std::size_t most = 0;
  for (std::int64_t slot = 0; slot < decoder_.slots(); ++slot) {
    const auto has_it = [slot](const auto& each) { return each->slot == slot; };
    if (std::ranges::any_of(running_, has_it) || std::ranges::any_of(joining, has_it)) continue;
    const auto shared = shared_prefix(decoder_.tokens(slot), prompt);
    if (best >= 0 && shared <= most) continue;
    best = slot;
    most = shared;
  }
  return best;
}

/// Waiting requests, as many as there are free slots.
Generator::Joining Generator::take_slots() {
  Joining joining;
  while (!waiting_.empty()) {
    const auto slot = best_slot(waiting_.front().request.prompt, joining);
    if (slot < 0) break;
    joining.push_back(std::make_unique<Running>(std::move(waiting_.front()), slot, *this));
    waiting_.pop_front();
  }
  return joining;
}

Predictions Generator::start(std::span<const std::unique_ptr<Running>> joining) {
  std::vector<Extension> texts;
  auto wanted = Wanted::Likeliest;
  for (const auto& each : joining) {
    texts.push_back({each->slot, each->request.prompt});
    wanted = std::max(wanted, each->wanted());
  }
  return decoder_.start_each(texts, wanted);
}

/// Its first token, from a row of `next`, or from a pass of its own.
void Generator::begin(std::unique_ptr<Running> joined, const Predictions* next, std::size_t row) {
  try {
    if (joined->request.started) joined->request.started();
    next != nullptr ? joined->accept(*next, row) : joined->accept(start({&joined, 1}), 0);
  } catch (const Error& error) {
    joined->fail(error);
  }
  if (joined->ended()) {
    joined->finish();
  } else {
    running_.push_back(std::move(joined));
  }
}

void Generator::join() {
  for (auto joining = take_slots(); !joining.empty(); joining = take_slots()) {
    std::optional<Predictions> next;
    try {
      if (joining.size() > 1) next = start(joining);
    } catch (const Error&) {  // of one of them: each for itself, then
    }
    for (std::size_t i = 0; i < joining.size(); ++i) {
      begin(std::move(joining[i]), next ? &*next : nullptr, i);
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
    extensions.push_back({each->slot, each->propose()});
    wanted = std::max(wanted, each->wanted());
  }
  Predictions next;
  try {
    next = threads_.run([&] { return decoder_.extend(extensions, wanted); });
  } catch (const Error& error) {  // of all: which of them it was about is not known
    for (const auto& each : running_) each->fail(error);
    running_.clear();
    return true;
  }
  std::size_t row = 0;
  for (const auto& each : running_) {
    const auto proposed = each->guesses.proposed().size();
    auto kept = proposed;
    try {
      kept = each->accept(next, row);
    } catch (const Error& error) {
      each->fail(error);
    }
    const auto rejected = proposed - kept;
    row += proposed;
    const auto length = decoder_.tokens(each->slot).size() - rejected;
    decoder_.shorten(each->slot, static_cast<std::int64_t>(length));
    if (each->ended()) each->finish();
  }
  std::erase_if(running_, [](const auto& each) { return each->ended(); });
  return true;
}

}  // namespace ubique::nn
